// SPDX-License-Identifier: MIT
// An atomic update of doubles.
// EXPECT: update_tile: atomic updates are of int, unsigned, float, half_t or bfloat16_t; cast_tile converts
#include <tilewright/tile/update.hpp>

#include "sample_tile.hpp"

void f(double* p, const tw::static_distributed_tensor<double, distribution>& tile) {
  tw::update_tile<tw::memory_operation_enum::atomic_add>(tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}),
                                                         tile);
}
