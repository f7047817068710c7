// SPDX-License-Identifier: MIT
// A copy between windows of two distributions.
// EXPECT: async_load_tile: the windows must have the same element type and the same distribution
#include <tilewright/tile/async_load.hpp>

#include "sample_tile.hpp"

void f(tw::exec::lds_pointer p, float* q) {
  tw::async_load_tile(tw::make_tile_window(lds_view(p), lengths, {0, 0}, distribution{}),
                      tw::make_tile_window(view(q), lengths, {0, 0}, by_columns{}));
}
