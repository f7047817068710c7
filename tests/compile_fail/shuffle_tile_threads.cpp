// SPDX-License-Identifier: MIT
// An exchange between threads without a place for it.
// EXPECT: shuffle_tile: threads would have to exchange elements; pass a place in LDS as the third argument
#include <tilewright/tile/shuffle_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, by_columns>& out,
       const tw::static_distributed_tensor<float, distribution>& in) {
  tw::shuffle_tile(out, in);
}
