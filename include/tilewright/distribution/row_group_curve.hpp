// SPDX-License-Identifier: MIT
// An order of a matrix's tiles by groups of rows, column by column within a group.
#pragma once

#include <tilewright/util/array.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright {

/// Tiles of a grid of rows x cols, each once: down the group_rows rows of the first column, then of the next column,
/// and so on to the end of the group; then the next group. The last group has the rows that are left. Tiles that run at
/// the same time then share rows and columns. With snake every other group runs from the last column to the first, and
/// begins with the column just used. rows, cols and group_rows are positive; there are at most 2^31 - 1 tiles.
struct row_group_curve {
  index_t rows = 1, cols = 1;
  index_t group_rows = 1;
  bool snake = false;

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

}  // namespace tilewright
