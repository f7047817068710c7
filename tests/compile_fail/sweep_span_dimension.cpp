// SPDX-License-Identifier: MIT
// A span of a third dimension.
// EXPECT: sweep_tile_span: the tile has no such dimension
#include <tilewright/tile/sweep_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile_span<2>(tile, [](auto) {});
}
