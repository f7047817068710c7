// SPDX-License-Identifier: MIT
// A window loaded into a tile of another element type.
// EXPECT: load_tile: the tile must have the element type of the view and the distribution of the window
#include <tilewright/tile/load_store.hpp>

#include "sample_tile.hpp"

void f(const float* p, tw::static_distributed_tensor<int, distribution>& tile) {
  tw::load_tile(tile, tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}));
}
