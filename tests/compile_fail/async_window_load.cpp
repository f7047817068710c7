// SPDX-License-Identifier: MIT
// A window for async_load_tile, read into registers.
// EXPECT: load_tile: make_async_tile_window is for async_load_tile
#include <tilewright/tile/async_window.hpp>

#include <tilewright/lds/lds_index_swapping.hpp>

#include "sample_tile.hpp"

constexpr auto layout = tw::make_lds_index_swapping_descriptor<32, 4, 1, 8, float>();
void f(const float* q) {
  (void)tw::load_tile(tw::make_async_tile_window(view(q), lengths, {0, 0}, distribution{}, layout));
}
