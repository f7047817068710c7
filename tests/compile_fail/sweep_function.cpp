// SPDX-License-Identifier: MIT
// A function of two indices.
// EXPECT: sweep_tile: the function must take (index) or (index, element)
#include <tilewright/tile/sweep_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile(tile, [](auto, float&, float&) {});
}
