// SPDX-License-Identifier: MIT
// A part that only some threads hold.
// EXPECT: slice_distribution_from_x: some threads would hold nothing; cut only factors that a thread holds (Y)
#include <tilewright/tile/slice_tile.hpp>

#include "sample_tile.hpp"

void f(const tw::static_distributed_tensor<float, distribution>& tile) {
  (void)tw::get_slice_tile(tile, sequence<0, 0>{}, sequence<4, 32>{});
}
