// SPDX-License-Identifier: MIT
// A window on global memory, columns that are not contiguous, a tile of the window's own shape, and a tile of floats.
// EXPECT: load_tile_transpose: the window must be in LDS
// EXPECT: load_tile_transpose: the instruction takes 8 (ldmatrix: 16) bytes of each lane that are neighbours in LDS
// EXPECT: load_tile_transpose: the tile's threads hold other elements than the window's distribution gives them
// EXPECT: load_tile_transpose: the tile must have the element type of the view
#include <tilewright/core/arch/gfx950.hpp>
#include <tilewright/tile/copy/load_tile_transpose.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using halves = tw::tile_distribution_encoding<sequence<>, tuple<sequence<4>, sequence<4, 4>>, tuple<sequence<1, 2>>,
                                              tuple<sequence<0, 0>>, sequence<2>, sequence<1>>;
using addressed = tw::tile_distribution<halves::value>;
using held = decltype(tw::make_transpose_output_distribution<short, tw::arch::gfx950>(addressed{}));
constexpr auto lengths = make_tuple(number<4>{}, number<16>{});
constexpr auto packed = tw::make_naive_tensor_descriptor_packed(lengths);
constexpr auto columns = tw::make_naive_tensor_descriptor(lengths, make_tuple(number<1>{}, number<4>{}));

template <class Layout>
auto window(tw::exec::lds_pointer p, const Layout& layout) {
  return tw::make_tile_window(tw::make_tensor_view<tw::address_space_enum::lds, short>(p, layout), lengths, {},
                              addressed{});
}

void f(tw::exec::lds_pointer p, short* memory, tw::static_distributed_tensor<short, addressed>& of_window,
       tw::static_distributed_tensor<float, held>& of_floats) {
  using tw::arch::gfx950;
  const auto view = tw::make_tensor_view<tw::address_space_enum::global>(memory, packed);
  tw::load_tile_transpose<gfx950>(tw::make_tile_window(view, lengths, {}, addressed{}));
  tw::load_tile_transpose<gfx950>(window(p, columns));
  tw::load_tile_transpose<gfx950>(of_window, window(p, packed));
  tw::load_tile_transpose<gfx950>(of_floats, window(p, packed));
}
