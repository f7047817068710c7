// SPDX-License-Identifier: MIT
// A transpose into a tile of the same lengths.
// EXPECT: transpose_tile: the tiles must have two dimensions, the lengths of one being those of the other exchanged
#include <tilewright/tile/shuffle_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, distribution>& out,
       const tw::static_distributed_tensor<float, distribution>& in, tw::exec::lds_pointer p) {
  tw::transpose_tile(out, in, p);
}
