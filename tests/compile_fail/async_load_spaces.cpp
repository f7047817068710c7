// SPDX-License-Identifier: MIT
// A copy into global memory.
// EXPECT: async_load_tile: the first window must be in LDS
#include <tilewright/tile/async_load.hpp>

#include "sample_tile.hpp"

void f(float* p) {
  const auto window = tw::make_tile_window(view(p), lengths, {0, 0}, distribution{});
  tw::async_load_tile(window, window);
}
