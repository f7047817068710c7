// SPDX-License-Identifier: MIT
// Other indices for a window that takes none.
// EXPECT: update_page_idx: the window takes no indices from a table
#include <tilewright/tile/tile_scatter_gather.hpp>

#include "sample_tile.hpp"

void f(float* p) {
  auto window = tw::make_tile_window_linear(view(p), lengths, {0, 0}, distribution{}, sequence<1>{});
  tw::update_page_idx(window, {});
}
