// SPDX-License-Identifier: MIT
// Which block computes which tile of C, so that blocks that run at the same time and
// share a cache read the same operands.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/distribution/matrix_curves.hpp>

namespace tilewright {

/// The curve along which blocks walk through the tiles of C.
enum class grid_curve : signed char { rows, row_groups, hilbert };

/// A policy's choice. A GPU of several dies (XCDs) hands out blocks in turns: block b runs on die b % dies. Each die
/// then walks through its own contiguous part of the curve. (AMD CDNA3 ISA and white paper: 8 XCDs, each with its own
/// L2.)
struct grid_order {
  grid_curve curve = grid_curve::row_groups;
  index_t group_rows = 8;  // of row_groups, in tiles
  index_t dies = 1;
  bool snake = false;  // row_groups: every other group runs backwards

  /// Row and column of the tile that block `b` of rows x cols computes, for a curve known at compile time: less code
  /// than tile_of.
  template <grid_curve Curve>
  TILEWRIGHT_HD constexpr multi_index<2> tile_along(index_t b, index_t rows, index_t cols) const {
    const index_t i = index_on_curve(b, rows * cols);
    if constexpr (Curve == grid_curve::hilbert) {
      return hilbert_curve{rows, cols}.get_index(i);
    } else if constexpr (Curve == grid_curve::row_groups) {
      return row_group_curve{rows, cols, group_rows, snake}.get_index(i);
    } else {
      return {{divide(i, cols), modulo(i, cols)}};
    }
  }

  /// Row and column of the tile that block `b` of rows x cols computes.
  TILEWRIGHT_HD constexpr multi_index<2> tile_of(index_t b, index_t rows, index_t cols) const {
    switch (curve) {
      case grid_curve::hilbert: return tile_along<grid_curve::hilbert>(b, rows, cols);
      case grid_curve::row_groups: return tile_along<grid_curve::row_groups>(b, rows, cols);
      case grid_curve::rows: break;
    }
    return tile_along<grid_curve::rows>(b, rows, cols);
  }

  /// Die d walks through blocks / dies places, the first blocks % dies of them one more.
  TILEWRIGHT_HD constexpr index_t index_on_curve(index_t b, index_t blocks) const {
    if (dies == 1) return b;
    const index_t die = modulo(b, dies), each = divide(blocks, dies), more = modulo(blocks, dies);
    return die * each + min(die, more) + divide(b, dies);
  }
  friend constexpr bool operator==(const grid_order&, const grid_order&) = default;
};

namespace detail {

/// Row groups of eight tiles, and the dies of the target.
template <class Arch>
TILEWRIGHT_HD constexpr grid_order default_grid_order() {
  return {.dies = Arch::value.num_dies};
}

/// A tile of C: its row and column in tiles, and its matrix in the batch.
struct tile_coord {
  index_t row, col, batch;
  friend constexpr bool operator==(const tile_coord&, const tile_coord&) = default;
};

/// The order in which persistent blocks take the tiles of a batch: one matrix after the other, each in groups of
/// `group` rows.
struct tile_order {
  index_t rows, cols, batch, group;

  TILEWRIGHT_HD constexpr index_t num_tiles() const { return rows * cols * batch; }

  TILEWRIGHT_HD constexpr tile_coord operator()(index_t i) const {
    const index_t per_matrix = rows * cols, matrix = divide(i, per_matrix);
    const grid_order in_matrix{grid_curve::row_groups, group, 1, true};
    const multi_index<2> at = in_matrix.tile_along<grid_curve::row_groups>(i - matrix * per_matrix, rows, cols);
    return {at[0], at[1], matrix};
  }
};

/// Equals tile_order, whose groups of rows are a row_group_curve that snakes. Made on the host, it multiplies by
/// reciprocals on the device instead of dividing: where a place is needed soon.
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

}  // namespace detail

}  // namespace tilewright
