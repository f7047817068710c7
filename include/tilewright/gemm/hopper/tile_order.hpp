// SPDX-License-Identifier: MIT
// In which order blocks take the tiles of C, so that blocks that run together read the same rows of A and columns of B.
#pragma once

#include <tilewright/distribution/row_group_curve.hpp>

namespace tilewright {

/// A tile of C: its row and column in tiles, and its matrix in the batch.
struct tile_position {
  index_t row, col, batch;
  friend constexpr bool operator==(const tile_position&, const tile_position&) = default;
};

/// One matrix of the batch after the other, each along a row_group_curve of groups of `group` rows, snake.
struct tile_order {
  index_t rows, cols, batch, group;

  TILEWRIGHT_HD constexpr index_t num_tiles() const { return rows * cols * batch; }

  TILEWRIGHT_HD constexpr tile_position operator()(index_t i) const {
    const index_t per_matrix = rows * cols, matrix = divide(i, per_matrix);
    const row_group_curve curve{rows, cols, group, true};
    const multi_index<2> at = curve.get_index(i - matrix * per_matrix);
    return {at[0], at[1], matrix};
  }
};

}  // namespace tilewright
