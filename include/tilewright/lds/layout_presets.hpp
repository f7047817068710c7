// SPDX-License-Identifier: MIT
// Layouts of a tile in LDS that are not swizzled, as graphs: plain, padded, base tiles.
#pragma once

#include <tilewright/descriptor/make_graph.hpp>
#include <tilewright/lds/swizzles.hpp>

namespace tilewright {

/// Rows without gaps.
TILEWRIGHT_HD constexpr tensor_graph plain_layout(const lds_tile& tile) { return packed_graph(tile.rows, tile.cols); }

/// Rows pad_bytes apart, a multiple of the element's size.
TILEWRIGHT_HD constexpr tensor_graph padded_layout(const lds_tile& tile, index_t pad_bytes) {
  return strided_graph(tile.rows, tile.cols, tile.cols + pad_bytes / tile.element_bytes, 1);
}

/// Base tiles (what a wave accesses at once: 16 bytes per lane, lanes row by row), each contiguous, in row-major order.
/// The tile is a whole number of base tiles.
TILEWRIGHT_HD constexpr tensor_graph base_tile_layout(const lds_tile& tile, index_t thread_rows, index_t thread_cols) {
  using enum transform_kind;
  const index_t cols = thread_cols * 16 / tile.element_bytes, down = tile.rows / thread_rows, right = tile.cols / cols;
  return transform_graph(packed_graph(down, right, thread_rows, cols),
                         place_transform(merge, {0, 2}, {0}, down, thread_rows),
                         place_transform(merge, {1, 3}, {1}, right, cols));
}

/// The descriptor of a layout that is known as a graph: linear, or a permutation of the tile without holes.
template <tensor_graph Graph>
  requires(Graph.num_values == 0)
TILEWRIGHT_HD constexpr auto make_lds_descriptor() {
  tensor_descriptor<Graph> result{{}, 1};
  for (const index_t length : result.get_lengths()) result.element_space_size *= length;
  if (detail::is_linear(Graph)) {
    auto last = result.get_lengths();
    for (index_t& i : last) --i;
    result.element_space_size = result.calculate_offset(last) + 1;
  }
  return result;
}

}  // namespace tilewright
