// SPDX-License-Identifier: MIT
// The tile of row_norm_gradient for rows of a length, and the number of blocks that share the rows.
#pragma once

#include <tilewright/block/rows/row_tile.hpp>
#include <tilewright/kernels/rows/norm.hpp>

namespace tilewright {

/// The tiles of row_norm_gradient, for aligned rows, then for unaligned ones, in ascending order of the longest row
/// that is read once. norm_gradient_tile() has the vectors of a type.
inline constexpr row_tile norm_gradient_tiles[] = {
    {64, 64, 2},
    {256, 256, 1},
    {256, 256, 2},
    {512, 512, 2},
    {512, 512, 2, 8, 2},
    {512, 512, 2, 8, 4},
    {512, 512, 2, 8, 8},
    {512, 512, 4, 8, 8},
    {64, 64, 3, 8, 1, true},
    {128, 128, 2, 8, 1, true},
    {256, 256, 3, 8, 1, true},
    {512, 512, 2, 8, 1, true},
    {512, 512, 3, 8, 2, true},
    {512, 512, 4, 8, 4, true},
    {512, 512, 2, 8, 8, true},
    {512, 512, 3, 8, 8, true},
};
/// Tile `number` of norm_gradient_tiles, with vectors of 16 bytes of elements of `element_bytes`.
constexpr row_tile norm_gradient_tile(index_t number, index_t element_bytes) {
  row_tile tile = norm_gradient_tiles[number];
  tile.vector = 16 / element_bytes;
  return tile;
}

/// The tile that was fastest on an H100, of those that a target has LDS and clusters for. Longer rows take the last
/// one.
constexpr row_tile choose_norm_gradient_tile(const arch::target& on, index_t element_bytes, index_t cols,
                                             bool is_aligned, norm_kind kind) {
  row_tile best = norm_gradient_tile(is_aligned ? 0 : 8, element_bytes);
  for (index_t i = is_aligned ? 0 : 8; i < (is_aligned ? 8 : 16) && cols > best.most_cols(); ++i) {
    const row_tile tile = norm_gradient_tile(i, element_bytes);
    // Three stages of dy and x, and weights; LayerNorm would spill registers.
    const bool fits = 7 * tile.cols() * element_bytes + 1024 <= on.lds_bytes && tile.blocks <= on.max_cluster;
    if (fits && !(kind == norm_kind::layer_norm && tile.unaligned && tile.vectors == 4)) best = tile;
  }
  return best;
}

/// args.num_partials for a GPU that runs `resident` blocks (clusters, where blocks share a row) of the kernel at the
/// same time. A multiple of the vector, where enough blocks are left: neighbouring rows are then taken at the same
/// time.
constexpr index_t choose_num_partials(index_t rows, index_t resident, const row_tile& tile) {
  const index_t vector = tile.unaligned ? tile.vector : 1, left = resident % vector;
  return rows <= resident ? rows : left * 4 <= resident ? resident - left : resident;
}

}  // namespace tilewright
