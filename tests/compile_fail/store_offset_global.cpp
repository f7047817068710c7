// SPDX-License-Identifier: MIT
// A second buffer in global memory.
// EXPECT: store_tile_with_offset: the window must be in LDS
#include <tilewright/tile/load_store.hpp>

#include "sample_tile.hpp"

void f(const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::store_tile_with_offset(
      tw::make_tile_window(view<float>(nullptr), tw::make_tuple(tw::number<8>{}, tw::number<32>{}), {0, 0},
                           distribution{}),
      tile, 64);
}
