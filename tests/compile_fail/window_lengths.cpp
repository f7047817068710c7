// SPDX-License-Identifier: MIT
// A window of another size than its distribution's tile.
// EXPECT: tile_window: the lengths are not those of the tile distribution
// EXPECT(clang): '16 == 32': tile_window: the lengths are not those of the tile distribution
#include <tilewright/tile/load_store.hpp>

namespace tw = tilewright;

using distribution =
    tw::tile_distribution<tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<8>, tw::sequence<8, 4>>,
                                                         tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                         tw::sequence<2>, tw::sequence<1>>::value>;
auto view(float* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, tw::make_tuple(8, 32),
                                                                    tw::make_tuple(32, tw::number<1>{}));
}
auto w = tw::make_tile_window(view(nullptr), tw::make_tuple(tw::number<8>{}, tw::number<16>{}), {0, 0}, distribution{});
