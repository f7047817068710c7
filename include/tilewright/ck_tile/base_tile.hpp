// SPDX-License-Identifier: MIT
// The base tile: what one wave moves with one access of 16 bytes per lane.
#pragma once

#include <tilewright/distribution/tile_distribution.hpp>
#include <tilewright/lds/layout_presets.hpp>

namespace tilewright {

/// ThreadRows x ThreadCols lanes of one wave (32 or 64 in all), lane l in row l / ThreadCols and column l % ThreadCols;
/// each accesses 16 bytes of T, neighbours along a row.
template <class T, index_t ThreadRows, index_t ThreadCols>
struct base_tile {
  static_assert(ThreadRows > 0 && (ThreadRows * ThreadCols == 32 || ThreadRows * ThreadCols == 64),
                "base_tile: thread rows times thread columns must be the lanes of a wave, 32 or 64");
  static_assert(16 % sizeof(T) == 0, "base_tile: the element type's size must divide 16 bytes");

  using element_type = T;
  static constexpr index_t access_bytes = 16;
  static constexpr index_t vector = access_bytes / index_t(sizeof(T));  // elements of one access
  static constexpr index_t wave_size = ThreadRows * ThreadCols;
  static constexpr index_t rows = ThreadRows;
  static constexpr index_t cols = ThreadCols * vector;
  static constexpr index_t row_bytes = ThreadCols * access_bytes;
  static constexpr index_t bytes = wave_size * access_bytes;

  static constexpr distribution_encoding encoding =
      tile_distribution_encoding<sequence<>, tuple<sequence<ThreadRows>, sequence<ThreadCols, vector>>,
                                 tuple<sequence<1, 2>>, tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value;
  using distribution = tile_distribution<encoding>;

  /// base_tile_layout for a block of BlockRows x BlockCols elements: each access of a wave covers `bytes` contiguous
  /// bytes, so it has no bank conflicts. Maps (row, column) to the offset in elements.
  template <index_t BlockRows, index_t BlockCols>
  TILEWRIGHT_HD static constexpr auto make_lds_descriptor() {
    static_assert(BlockRows > 0 && BlockCols > 0 && BlockRows % rows == 0 && BlockCols % cols == 0,
                  "base_tile: the block must be a whole number of base tiles in both dimensions");
    return tilewright::make_lds_descriptor<base_tile_layout({BlockRows, BlockCols, sizeof(T)}, ThreadRows,
                                                            ThreadCols)>();
  }
};

}  // namespace tilewright
