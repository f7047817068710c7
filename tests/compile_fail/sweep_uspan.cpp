// SPDX-License-Identifier: MIT
// A third dimension of a matrix, two numbers for a span of one digit, three neighbours of four.
// EXPECT: sweep_tile_uspan: the tile has no such dimension
// EXPECT: sweep_tile_uspan: one number of unpacks is needed for each digit of the span
// EXPECT: sweep_tile_uspan: each number of unpacks must divide the length of its digit
#include <tilewright/tile/sweep_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile_uspan<2>(tile, [](auto...) {}, sequence<1>{});
  tw::sweep_tile_uspan<1>(tile, [](auto...) {}, sequence<1, 2>{});
  tw::sweep_tile_uspan<1>(tile, [](auto...) {}, sequence<3>{});
}
