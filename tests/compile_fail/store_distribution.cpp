// SPDX-License-Identifier: MIT
// A tile stored to a window of another distribution.
// EXPECT: store_tile: the tile's distribution is not the window's; use shuffle_tile
// EXPECT(clang): requirement 'has_same_distribution': store_tile
#include <tilewright/tile/load_store.hpp>

#include "sample_tile.hpp"

void f(float* p, const tw::static_distributed_tensor<float, by_columns>& tile) {
  tw::store_tile(tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}), tile);
}
