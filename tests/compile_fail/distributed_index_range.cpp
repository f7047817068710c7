// SPDX-License-Identifier: MIT
// An element that the thread does not hold.
// EXPECT: tile_distributed_index: the index is not one of the tile's distributed spans
#include <tilewright/tile/sweep_tile.hpp>

#include "sample_tile.hpp"

float f(const tw::static_distributed_tensor<float, distribution>& tile) {
  return tile[make_tuple(tw::detail::tile_distributed_index<>{}, tw::detail::tile_distributed_index<4>{})];
}
