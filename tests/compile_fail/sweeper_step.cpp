// SPDX-License-Identifier: MIT
// A step past the last one.
// EXPECT: tile_sweeper: there are not so many accesses; see get_num_of_access()
#include <tilewright/tile/sweep_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::tile_sweeper sweeper(tile, [](auto) {});
  sweeper(number<4>{});
}
