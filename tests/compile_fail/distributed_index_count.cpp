// SPDX-License-Identifier: MIT
// An element of a two-dimensional tile with one index.
// EXPECT: tile_distributed_index: one index is needed for each dimension of the tile
#include <tilewright/tile/sweep_tile.hpp>

#include "sample_tile.hpp"

float f(const tw::static_distributed_tensor<float, distribution>& tile) {
  return tile[make_tuple(tw::detail::tile_distributed_index<>{})];
}
