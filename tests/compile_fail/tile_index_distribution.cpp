// SPDX-License-Identifier: MIT
// An index of one tile for a tile of another distribution.
// EXPECT: tile_index: the index belongs to a tile of another distribution
#include <tilewright/tile/sweep_tile.hpp>

#include "sample_tile.hpp"

void f(const tw::static_distributed_tensor<float, distribution>& a,
       tw::static_distributed_tensor<float, by_columns>& b) {
  tw::sweep_tile(a, [&](auto i, float x) { b(i) = x; });
}
