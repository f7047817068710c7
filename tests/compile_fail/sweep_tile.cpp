// SPDX-License-Identifier: MIT
// Sweeps over tiles, and their indices.
#include <tilewright/compat/ck_tile/sweep_tile.hpp>

#include "sample_tile.hpp"

// An element of a two-dimensional tile with one index.
// EXPECT: tile_distributed_index: one index is needed for each dimension of the tile
float distributed_index_count(const tw::static_distributed_tensor<float, distribution>& tile) {
  return tile[make_tuple(tw::detail::tile_distributed_index<>{})];
}

// An element that the thread does not hold.
// EXPECT: tile_distributed_index: the index is not one of the tile's distributed spans
float distributed_index_range(const tw::static_distributed_tensor<float, distribution>& tile) {
  return tile[make_tuple(tw::detail::tile_distributed_index<>{}, tw::detail::tile_distributed_index<4>{})];
}

// A function of two indices.
// EXPECT: sweep_tile: the function must take (index) or (index, element)
void sweep_function(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile(tile, [](auto, float&, float&) {});
}

// A span of a third dimension.
// EXPECT: sweep_tile_span: the tile has no such dimension
void sweep_span_dimension(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile_span<2>(tile, [](auto) {});
}

// An index of one tile for a tile of another distribution.
// EXPECT(4): tile_index: the index belongs to a tile of another distribution
void tile_index_distribution(const tw::static_distributed_tensor<float, distribution>& a,
                             tw::static_distributed_tensor<float, by_columns>& b) {
  tw::sweep_tile(a, [&](auto i, float x) { b(i) = x; });
}
