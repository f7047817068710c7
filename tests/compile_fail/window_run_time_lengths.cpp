// SPDX-License-Identifier: MIT
// A window as high as the tensor happens to be, of each kind.
// EXPECT: tile_window: the lengths are those of the distribution's tile, which the compiler knows
// EXPECT: tile_window: the lengths are those of the distribution's tile, which the compiler knows
#include <tilewright/tile/tile_window_linear.hpp>

namespace tw = tilewright;

using distribution =
    tw::tile_distribution<tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<8>, tw::sequence<8, 4>>,
                                                         tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                         tw::sequence<2>, tw::sequence<1>>::value>;
auto view(float* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, tw::make_tuple(8, 32),
                                                                    tw::make_tuple(32, tw::number<1>{}));
}
auto w(int height) {
  return tw::make_tile_window(view(nullptr), tw::make_tuple(height, tw::number<32>{}), {0, 0}, distribution{});
}
auto linear(int height) {
  return tw::make_tile_window_linear(view(nullptr), tw::make_tuple(tw::number<8>{}, height), {0, 0}, distribution{},
                                     tw::sequence<1>{});
}
