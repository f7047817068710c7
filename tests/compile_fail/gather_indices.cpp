// SPDX-License-Identifier: MIT
// Two indices for a thread that holds one row.
// EXPECT: make_tile_scatter_gather: the indices must be an array<index_t, num_page_indices<View, Distribution, Gathered>>
#include <tilewright/tile/tile_scatter_gather.hpp>

#include "sample_tile.hpp"

void f(float* p) {
  (void)tw::make_tile_scatter_gather(view(p), lengths, {0, 0}, distribution{}, tw::array<index_t, 2>{}, number<0>{});
}
