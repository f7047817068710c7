// SPDX-License-Identifier: MIT
// Shorts into a tile of floats.
// EXPECT: load_tile_transpose: the tile must have the element type of the view
#include <tilewright/arch/gfx950.hpp>
#include <tilewright/tile/load_tile_transpose.hpp>

namespace tw = tilewright;

using halves = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4>, tw::sequence<4, 4>>,
                                              tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                              tw::sequence<2>, tw::sequence<1>>;
using addressed = tw::tile_distribution<halves::value>;
constexpr auto lengths = tw::make_tuple(tw::number<4>{}, tw::number<16>{});

template <class T, class Held>
void f(tw::exec::lds_pointer p, tw::static_distributed_tensor<T, Held>& tile) {
  const auto view =
      tw::make_tensor_view<tw::address_space_enum::lds, short>(p, tw::make_naive_tensor_descriptor_packed(lengths));
  tw::load_tile_transpose<tw::arch::gfx950>(tile, tw::make_tile_window(view, lengths, {}, addressed{}));
}

using held = decltype(tw::make_transpose_output_distribution<short, tw::arch::gfx950>(addressed{}));
template void f(tw::exec::lds_pointer, tw::static_distributed_tensor<float, held>&);
