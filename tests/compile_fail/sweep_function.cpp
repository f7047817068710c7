// SPDX-License-Identifier: MIT
// A function of one index for pairs of elements.
// EXPECT: sweep_tile: the function must take one index for each element that is unpacked
#include <tilewright/tile/sweep_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile(tile, [](auto) {}, sequence<2>{});
}
