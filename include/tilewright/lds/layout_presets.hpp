// SPDX-License-Identifier: MIT
// Well-known layouts of tiles in LDS, as values; make_lds_descriptor makes an ordinary descriptor of each.
#pragma once

#include <tilewright/descriptor/make_graph.hpp>
#include <tilewright/lds/swizzled_layout.hpp>

namespace tilewright {

/// Row after row.
TILEWRIGHT_HD constexpr tensor_graph plain_layout(const lds_tile& tile) { return packed_graph(tile.rows, tile.cols); }

/// Rows pad_bytes apart, a multiple of the element's size.
TILEWRIGHT_HD constexpr tensor_graph padded_layout(const lds_tile& tile, index_t pad_bytes) {
  return strided_graph(tile.rows, tile.cols, tile.cols + pad_bytes / tile.element_bytes, 1);
}

/// Base tiles (one access of a wave: 16 bytes per lane, lanes row after row) one after another, row by row: the storage
/// order that base_tile::make_lds_descriptor has. The tile is a whole number of base tiles.
TILEWRIGHT_HD constexpr tensor_graph base_tile_layout(const lds_tile& tile, index_t thread_rows, index_t thread_cols) {
  using enum transform_kind;
  const index_t cols = thread_cols * 16 / tile.element_bytes, down = tile.rows / thread_rows, right = tile.cols / cols;
  return transform_graph(packed_graph(down, right, thread_rows, cols),
                         place_transform(merge, dims(0, 2), dims(0), down, thread_rows),
                         place_transform(merge, dims(1, 3), dims(1), right, cols));
}

/// The documented XOR preshuffle with MLdsLayer = layer and a KPack of 16 bytes: bit i of a group of `layer` rows flips
/// bit i of the chunk's number within the group. The same map as lds_index_swapping. Rows are at most 4 KiB.
TILEWRIGHT_HD constexpr swizzled_layout xor_preshuffle_layout(const lds_tile& tile, index_t layer) {
  swizzled_layout result{tile, layer, {}};
  const index_t chunks = result.chunks_per_bank_row();
  for (index_t i = 0; i < log2_floor(result.num_bank_rows()); ++i) result.flips.push_back(1 << i < chunks ? 1 << i : 0);
  return result;
}

/// Swizzle<B, M, S> of byte addresses: o ^ ((o & (((1 << B) - 1) << (M + S))) >> S). <1|2|3, 4, 3> are the 32-, 64- and
/// 128-byte swizzles of NVIDIA's bulk copies and wgmma. 2 <= M <= 4, B <= S.
TILEWRIGHT_HD constexpr swizzled_layout byte_swizzle_layout(const lds_tile& tile, index_t b, index_t m, index_t s) {
  const index_t bank_row = 1 << (m + s);
  swizzled_layout result{tile, max(1, bank_row / tile.row_bytes()), {}, max(1, tile.row_bytes() / bank_row), 1 << m, 0};
  for (index_t i = 0; i < log2_floor(result.num_bank_rows()); ++i) result.flips.push_back(i < b ? 1 << i : 0);
  return result;
}

/// Whether row_xor_layout knows rows of this many bytes.
TILEWRIGHT_HD constexpr bool has_row_xor_layout(index_t row_bytes) {
  return row_bytes == 64 || row_bytes == 128 || row_bytes == 256;
}

/// The swizzle that serves 16- and 32-row matrix instructions, ldmatrix and 16-byte writes by rows on every target at
/// once, for rows of 64, 128 or 256 bytes: chunk ^= xor of the numbers whose bit is set in the row.
TILEWRIGHT_HD constexpr swizzled_layout row_xor_layout(const lds_tile& tile) {
  constexpr index_t of_64[] = {0, 1, 2, 0, 1}, of_128[] = {1, 4, 2, 0, 1}, of_256[] = {4, 9, 2, 0, 1};
  const index_t* spread = tile.row_bytes() == 64 ? of_64 : tile.row_bytes() == 128 ? of_128 : of_256;
  swizzled_layout result{tile, 1, {}};
  for (index_t i = 0; i < log2_floor(tile.rows); ++i) result.flips.push_back(i < 5 ? spread[i] : 0);
  return result;
}

/// The descriptor of a layout that is known as a graph: linear, or a permutation of the tile without holes.
template <tensor_graph Graph>
  requires(Graph.num_values == 0)
TILEWRIGHT_HD constexpr auto make_lds_descriptor() {
  tensor_descriptor<Graph> result{{}, 1};
  for (const index_t length : result.get_lengths()) result.element_space_size *= length;
  if (is_linear(Graph)) {
    auto last = result.get_lengths();
    for (index_t& i : last) --i;
    result.element_space_size = result.calculate_offset(last) + 1;
  }
  return result;
}

}  // namespace tilewright
