// SPDX-License-Identifier: MIT
// In which order blocks take the tiles of C, so that blocks that run together read the same rows of A and columns of B.
#pragma once

#include <tilewright/util/array.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright {

/// A tile of C: its row and column in tiles, and its matrix in the batch.
struct tile_position {
  index_t row, col, batch;
  friend constexpr bool operator==(const tile_position&, const tile_position&) = default;
};

/// Rows of tiles are taken in groups of `group`. Within a group the tiles go column by column; every other group goes backwards, so
/// that it begins where the last one ended.
struct tile_order {
  index_t rows, cols, batch, group;

  TILEWRIGHT_HD constexpr index_t num_tiles() const { return rows * cols * batch; }

  TILEWRIGHT_HD constexpr tile_position operator()(index_t i) const {
    const index_t per_matrix = rows * cols, matrix = divide(i, per_matrix), t = modulo(i, per_matrix);
    const index_t g = divide(t, group * cols), first = g * group, height = min(group, rows - first);
    const index_t in_group = t - first * cols, col = divide(in_group, height);
    return {first + modulo(in_group, height), g & 1 ? cols - 1 - col : col, matrix};
  }
};

}  // namespace tilewright
