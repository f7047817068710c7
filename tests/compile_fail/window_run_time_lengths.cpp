// SPDX-License-Identifier: MIT
// A window as high as the tensor happens to be, of each kind.
// EXPECT: tile_window: the lengths are those of the distribution's tile, which the compiler knows
// EXPECT: tile_window: the lengths are those of the distribution's tile, which the compiler knows
#include <tilewright/tile/tile_window.hpp>

#include "sample_tile.hpp"

auto w(int height) {
  return tw::make_tile_window(view<float>(nullptr), tw::make_tuple(height, tw::number<32>{}), {0, 0}, distribution{});
}
auto linear(int height) {
  return tw::make_tile_window_linear(view<float>(nullptr), tw::make_tuple(tw::number<8>{}, height), {0, 0},
                                     distribution{}, tw::sequence<1>{});
}
