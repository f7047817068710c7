// SPDX-License-Identifier: MIT
// A copy out of LDS.
// EXPECT: async_load_tile: the second window must be in global memory
#include <tilewright/tile/async_load.hpp>

#include "sample_tile.hpp"

void f(tw::exec::lds_pointer p) {
  const auto window = tw::make_tile_window(lds_view(p), lengths, {0, 0}, distribution{});
  tw::async_load_tile(window, window);
}
