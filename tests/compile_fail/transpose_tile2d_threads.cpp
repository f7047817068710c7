// SPDX-License-Identifier: MIT
// A transpose between threads in registers.
// EXPECT: transpose_tile2d: threads would have to exchange elements; use transpose_tile with a place in LDS
#include <tilewright/tile/shuffle_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, distribution>& out,
       const tw::static_distributed_tensor<float, distribution>& in) {
  tw::transpose_tile2d(out, in);
}
