// SPDX-License-Identifier: MIT
// Orders of a matrix's tiles in which successive ones are close: by groups of rows, and a Hilbert curve.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/math.hpp>

namespace tilewright {

/// Tiles of a grid of rows x cols, each once: down the group_rows rows of the first column, then of the next column,
/// and so on to the end of the group; then the next group. The last group has the rows that are left. Tiles that run at
/// the same time then share rows and columns. With snake every other group runs from the last column to the first, and
/// begins with the column just used. rows, cols and group_rows are positive; there are at most 2^31 - 1 tiles.
struct row_group_curve {
  index_t rows = 1, cols = 1;  ///< tiles of the grid
  index_t group_rows = 1;      ///< rows of a group
  bool snake = false;          ///< every other group runs backwards

  /// Tiles.
  TILEWRIGHT_HD constexpr index_t get_num_of_access() const { return rows * cols; }

  /// Row and column of tile i, for 0 <= i < get_num_of_access(). Two divisions.
  TILEWRIGHT_HD constexpr multi_index<2> get_index(index_t i) const {
    const index_t height = min(group_rows, rows);
    const index_t group = divide(i, height * cols), first_row = group * height;
    const index_t in_group = i - first_row * cols, group_height = min(height, rows - first_row);
    const index_t forwards = divide(in_group, group_height);
    const bool backwards = snake && group % 2 == 1;
    return {{first_row + in_group - forwards * group_height, backwards ? cols - 1 - forwards : forwards}};
  }
  friend constexpr bool operator==(const row_group_curve&, const row_group_curve&) = default;
};

/// Hilbert's curve generalised to any rectangle: tiles of a grid of rows x cols, each once, from tile (0, 0) along the
/// longer side. Each step goes to one of the four neighbours; only when the longer side is odd and the shorter one even
/// and not 2, one single step goes to a diagonal neighbour. rows and cols are positive;
/// there are at most 2^31 - 1 tiles.
///
/// A rectangle that is much longer than wide is cut across; another one into a first part, traversed up the short side,
/// a middle part, and a last part, traversed down. The parts' sides are chosen even where that is possible.
struct hilbert_curve {
  index_t rows = 1, cols = 1;  ///< tiles of the grid

  /// Tiles.
  TILEWRIGHT_HD constexpr index_t get_num_of_access() const { return rows * cols; }

  /// Row and column of tile i, for 0 <= i < get_num_of_access(). About log2(rows * cols) rounds of additions,
  /// comparisons and two multiplications; no divisions.
  TILEWRIGHT_HD constexpr multi_index<2> get_index(index_t i) const {
    // A part begins at `at`, ends `length - 1` steps `along`, and has `width` rows of tiles next
    // to each other in direction `across`.
    struct direction {
      index_t row, col;
    };
    direction at{0, 0}, along{0, 1}, across{1, 0};
    index_t length = cols, width = rows;
    if (rows > cols) {
      along = {1, 0};
      across = {0, 1};
      length = rows;
      width = cols;
    }
    while (length > 1 && width > 1) {
      if (length - width > width >> 1) {  // longer than 3 / 2 of the width
        const index_t half = even_half(length), first = half * width;
        if (i < first) {
          length = half;
        } else {
          i -= first;
          at = {at.row + half * along.row, at.col + half * along.col};
          length -= half;
        }
        continue;
      }
      const index_t up = even_half(width), half = length >> 1;
      const index_t first = up * half, middle = length * (width - up);
      if (i < first) {
        const direction old = along;
        along = across;
        across = old;
        length = up;
        width = half;
      } else if (i < first + middle) {
        i -= first;
        at = {at.row + up * across.row, at.col + up * across.col};
        width -= up;
      } else {
        i -= first + middle;
        at = {at.row + (length - 1) * along.row + (up - 1) * across.row,
              at.col + (length - 1) * along.col + (up - 1) * across.col};
        const direction old = along;
        along = {-across.row, -across.col};
        across = {-old.row, -old.col};
        width = length - half;
        length = up;
      }
    }
    const direction step = length > 1 ? along : across;
    return {{at.row + i * step.row, at.col + i * step.col}};
  }
  friend constexpr bool operator==(const hilbert_curve&, const hilbert_curve&) = default;

 private:
  /// Half of a side, made even unless the side is 2.
  TILEWRIGHT_HD static constexpr index_t even_half(index_t side) {
    const index_t half = side >> 1;
    return half + (side > 2 ? half & 1 : 0);
  }
};

}  // namespace tilewright
