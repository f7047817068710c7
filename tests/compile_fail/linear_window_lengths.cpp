// SPDX-License-Identifier: MIT
// A linear window of other lengths than its distribution.
// EXPECT: tile_window: the lengths are not those of the tile distribution
#include <tilewright/tile/tile_window.hpp>

#include "sample_tile.hpp"

void f(float* p) {
  (void)tw::make_tile_window_linear(view(p), make_tuple(number<8>{}, number<16>{}), {0, 0}, distribution{},
                                    sequence<1>{});
}
