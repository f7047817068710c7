// SPDX-License-Identifier: MIT
// A window on global memory.
// EXPECT: load_tile_transpose: the window must be in LDS
#include <tilewright/arch/gfx950.hpp>
#include <tilewright/tile/load_tile_transpose.hpp>

namespace tw = tilewright;

using halves = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4>, tw::sequence<4, 4>>,
                                              tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                              tw::sequence<2>, tw::sequence<1>>;
using addressed = tw::tile_distribution<halves::value>;
constexpr auto lengths = tw::make_tuple(tw::number<4>{}, tw::number<16>{});

void f(short* p) {
  const auto view =
      tw::make_tensor_view<tw::address_space_enum::global>(p, tw::make_naive_tensor_descriptor_packed(lengths));
  tw::load_tile_transpose<tw::arch::gfx950>(tw::make_tile_window(view, lengths, {}, addressed{}));
}
