// SPDX-License-Identifier: MIT
// Tile order: the sequence in which persistent blocks compute the tiles of C.
#pragma once

#include <tilewright/block/schedule/grid_order.hpp>

namespace tilewright::detail {

/// The coordinate of a tile of C: row and column in tiles, and the matrix of the batch.
struct tile_coord {
  index_t row, col, batch;
  friend constexpr bool operator==(const tile_coord&, const tile_coord&) = default;
};

/// The order in which persistent blocks compute the tiles of a batch: one matrix after the other, each in groups of
/// `group` rows, which go through the columns back and forth:
///
///   group = 2:   0 2 4 ->      rows 0 and 1
///                1 3 5
///             <- 10 8 6        rows 2 and 3
///                11 9 7
struct tile_order {
  index_t rows, cols, batch, group;

  TILEWRIGHT_HD constexpr index_t num_tiles() const { return rows * cols * batch; }

  /// The coordinate of tile i < num_tiles().
  TILEWRIGHT_HD constexpr tile_coord operator()(index_t i) const {
    const index_t per_matrix = rows * cols, matrix = divide(i, per_matrix);
    const grid_order in_matrix{grid_curve::row_groups, group, 1, true};
    const multi_index<2> at = in_matrix.tile_along<grid_curve::row_groups>(i - matrix * per_matrix, rows, cols);
    return {at[0], at[1], matrix};
  }
};

/// Computes the coordinates of a tile_order with multiplications by reciprocals, which the host has prepared, in place
/// of divisions: for where the next tile is needed soon.
class fast_tile_order {
  tile_order order_{};
  magic_division matrix_, group_, height_, last_height_;

 public:
  fast_tile_order() = default;
  constexpr explicit fast_tile_order(const tile_order& order) : order_(order) {
    order_.group = min(order.group, order.rows);
    matrix_ = make_magic_division(order.rows * order.cols);
    group_ = make_magic_division(order_.group * order.cols);
    height_ = make_magic_division(order_.group);
    last_height_ = make_magic_division(modulo(order.rows - 1, order_.group) + 1);
  }

  TILEWRIGHT_HD constexpr tile_coord operator()(index_t i) const {
    const index_t matrix = matrix_.divide(i), in_matrix = i - matrix * (order_.rows * order_.cols);
    const index_t group = group_.divide(in_matrix), first_row = group * order_.group;
    const index_t in_group = in_matrix - first_row * order_.cols, rows_left = order_.rows - first_row;
    const index_t forwards = (rows_left > order_.group ? height_ : last_height_).divide(in_group);
    const index_t row = first_row + in_group - forwards * min(order_.group, rows_left);
    return {row, group % 2 == 1 ? order_.cols - 1 - forwards : forwards, matrix};
  }
};

}  // namespace tilewright::detail
