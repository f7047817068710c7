// SPDX-License-Identifier: MIT
// The tile that one wave moves with one access of 16 bytes per lane.
#pragma once

#include <tilewright/descriptor/transform_descriptor.hpp>
#include <tilewright/distribution/tile_distribution.hpp>

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

  /// Storage order in LDS of a block of block_rows x block_cols elements: its base tiles one after another, row by row;
  /// inside of a base tile the 16 bytes of lane l are the l-th. So every access of a wave is to `bytes` bytes in a row,
  /// and no lanes that the LDS serves together meet in a bank. Maps (row, column) to the offset in elements.
  template <index_t BlockRows, index_t BlockCols>
  TILEWRIGHT_HD static constexpr auto make_lds_descriptor() {
    static_assert(BlockRows > 0 && BlockCols > 0 && BlockRows % rows == 0 && BlockCols % cols == 0,
                  "base_tile: the block must be a whole number of base tiles in both dimensions");
    constexpr index_t down = BlockRows / rows, right = BlockCols / cols;
    return transform_tensor_descriptor(make_naive_tensor_descriptor_packed(
                                           make_tuple(number<down>{}, number<right>{}, number<rows>{}, number<cols>{})),
                                       make_tuple(make_merge_transform(make_tuple(number<down>{}, number<rows>{})),
                                                  make_merge_transform(make_tuple(number<right>{}, number<cols>{}))),
                                       make_tuple(sequence<0, 2>{}, sequence<1, 3>{}),
                                       make_tuple(sequence<0>{}, sequence<1>{}));
  }
};

}  // namespace tilewright
