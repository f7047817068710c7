// SPDX-License-Identifier: MIT
// A function of tiles of two distributions.
// EXPECT: tile_elementwise: the tiles have different distributions; shuffle_tile gives one tile the distribution of another
#include <tilewright/tile/elementwise.hpp>

#include "sample_tile.hpp"

void f(const tw::static_distributed_tensor<float, distribution>& a,
       const tw::static_distributed_tensor<float, by_columns>& b) {
  (void)tw::tile_elementwise_in([](float x, float y) { return x + y; }, a, b);
}
