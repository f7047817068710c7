// SPDX-License-Identifier: MIT
// Rows gathered along a dimension that the view does not have.
// EXPECT: make_tile_scatter_gather: the view has no such dimension
#include <tilewright/tile/tile_scatter_gather.hpp>

#include "sample_tile.hpp"

void f(float* p) {
  (void)tw::make_tile_scatter_gather(view(p), lengths, {0, 0}, distribution{}, tw::array<index_t, 1>{}, number<2>{});
}
