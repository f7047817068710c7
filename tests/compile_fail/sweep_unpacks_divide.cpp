// SPDX-License-Identifier: MIT
// Three neighbours of four.
// EXPECT: sweep_tile: each number of unpacks must divide the length of its y
#include <tilewright/tile/sweep_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile(tile, [](auto...) {}, sequence<3>{});
}
