// SPDX-License-Identifier: MIT
// Grid order: which block computes which tile of C, so that blocks that run at the same time and share a cache read the
// same operands.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/distribution/matrix_curves.hpp>

namespace tilewright {

/// The curve along which blocks traverse the tiles of C: row by row; in groups of rows, column by column in each;
/// or a Hilbert curve.
enum class grid_curve : signed char { rows, row_groups, hilbert };

/// A policy's choice. A GPU of several dies (XCDs) distributes blocks round-robin: block b runs on die b % dies. Each
/// die then traverses its own contiguous range of the curve. (AMD CDNA3 ISA and white paper: 8 XCDs, each with its
/// own L2.)
struct grid_order {
  grid_curve curve = grid_curve::row_groups;  ///< Default: row groups.
  index_t group_rows = 8;                     ///< Height of a row group in tiles. >= 1.
  index_t dies = 1;                           ///< Dies with an L2 of their own. >= 1.
  bool snake = false;                         ///< Row groups: every other group runs backwards along the columns.

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

  /// The index on the curve of block `b` of `blocks`: die d has blocks / dies consecutive ones, the first blocks % dies
  /// dies one more.
  TILEWRIGHT_HD constexpr index_t index_on_curve(index_t b, index_t blocks) const {
    if (dies == 1) return b;
    const index_t die = modulo(b, dies), each = divide(blocks, dies), more = modulo(blocks, dies);
    return die * each + min(die, more) + divide(b, dies);
  }
  friend constexpr bool operator==(const grid_order&, const grid_order&) = default;
};

namespace detail {

/// The default of a policy: row groups of eight tiles, and the dies of the target.
template <class Arch>
TILEWRIGHT_HD constexpr grid_order default_grid_order() {
  return {.dies = Arch::value.num_dies};
}

}  // namespace detail

}  // namespace tilewright
