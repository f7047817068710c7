// SPDX-License-Identifier: MIT
// Windows on rows of a table.
#include <tilewright/tile/window/tile_scatter_gather.hpp>

#include "sample_tile.hpp"

// Rows gathered along a dimension that the view does not have.
// EXPECT: make_tile_scatter_gather: the view has no such dimension
void gather_dimension(float* p) {
  (void)tw::make_tile_scatter_gather(view(p), lengths, {0, 0}, distribution{}, tw::array<index_t, 1>{}, number<2>{});
}

// Two indices for a thread that holds one row.
// EXPECT: make_tile_scatter_gather: the indices must be an array<index_t, num_page_indices<View, Distribution, Gathered>>
void gather_indices(float* p) {
  (void)tw::make_tile_scatter_gather(view(p), lengths, {0, 0}, distribution{}, tw::array<index_t, 2>{}, number<0>{});
}

// A gathering window of other lengths than its distribution.
// EXPECT: tile_window: the lengths are not those of the tile distribution
void gather_lengths(float* p) {
  (void)tw::make_tile_scatter_gather(view(p), make_tuple(number<4>{}, number<32>{}), {0, 0}, distribution{},
                                     tw::array<index_t, 1>{}, number<0>{});
}

// Other indices for a window that takes none.
// EXPECT: update_page_idx: the window takes no indices from a table
void update_page_idx_window(float* p) {
  auto window = tw::make_tile_window_linear(view(p), lengths, {0, 0}, distribution{}, sequence<1>{});
  tw::update_page_idx(window, {});
}
