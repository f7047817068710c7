// SPDX-License-Identifier: MIT
// Unpacks for two ys of a distribution with one.
// EXPECT: sweep_tile: unpacks need one number for each y of the distribution
#include <tilewright/tile/sweep_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile(tile, [](auto...) {}, sequence<1, 2>{});
}
