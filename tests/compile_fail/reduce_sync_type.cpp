// SPDX-License-Identifier: MIT
// Halves combined across lanes.
// EXPECT: block_tile_reduce_sync: lanes exchange values of 4 bytes; reduce to float or int
#include <tilewright/tile/reduce_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<tw::half_t, distribution>& tile) {
  tw::block_tile_reduce_sync(tile, tw::reduce_sum{});
}
