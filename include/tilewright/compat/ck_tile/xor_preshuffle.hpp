// SPDX-License-Identifier: MIT
// Layouts in LDS as CK Tile's documents write them by hand: reads and writes of vectors permuted by the row's number,
// and the base tile, what one wave moves with one access of 16 bytes per lane.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/vector.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright {

/// Position of vector `col` in row `row`. A row has KPerBlock / KPack vectors of KPack elements.
template <index_t KPerBlock, index_t KPack>
TILEWRIGHT_HD constexpr index_t xor_preshuffle(index_t row, index_t col) {
  static_assert(KPack > 0 && KPerBlock % KPack == 0, "xor_preshuffle: KPerBlock must be a multiple of KPack");
  static_assert(detail::is_power_of_two(KPerBlock / KPack),
                "xor_preshuffle: the vectors of a row must be a power of two, or two of them would share a place");
  return modulo(row, KPerBlock / KPack) ^ col;
}

namespace detail {
template <class T, index_t RowStride, index_t KPerBlock, index_t KPack>
TILEWRIGHT_HD constexpr index_t xor_offset(index_t row, index_t col) {
  static_assert(KPack * index_t(sizeof(T)) <= 16,
                "lds_write_with_xor: one instruction moves at most 16 bytes; choose a smaller KPack");
  static_assert(RowStride >= KPerBlock && RowStride % KPack == 0,
                "lds_write_with_xor: rows must not overlap, and must begin at a multiple of KPack");
  return (row * RowStride + xor_preshuffle<KPerBlock, KPack>(row, col) * KPack) * index_t(sizeof(T));
}
}  // namespace detail

/// Writes KPack elements from `src` as vector `col` of row `row`, with one instruction.
/// Rows are RowStride elements apart.
template <class T, index_t RowStride, index_t KPerBlock = 64, index_t KPack = 8>
TILEWRIGHT_HD void lds_write_with_xor(exec::lds_pointer lds, const T* src, index_t row, index_t col,
                                      exec::call_site where = {}) {
  const exec::call_scope scope(where);
  vector_t<T, KPack> v;
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < KPack; ++i) v[i] = src[i];
  exec::lds_store(lds, detail::xor_offset<T, RowStride, KPerBlock, KPack>(row, col), v);
}

/// Reads them back to `dst`.
template <class T, index_t RowStride, index_t KPerBlock = 64, index_t KPack = 8>
TILEWRIGHT_HD void lds_read_with_xor(T* dst, exec::lds_pointer lds, index_t row, index_t col,
                                     exec::call_site where = {}) {
  const exec::call_scope scope(where);
  const auto v = exec::lds_load<vector_t<T, KPack>>(lds, detail::xor_offset<T, RowStride, KPerBlock, KPack>(row, col));
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < KPack; ++i) dst[i] = v[i];
}

/// ThreadRows x ThreadCols lanes of one wave (32 or 64 in all), lane l in row l / ThreadCols and column l % ThreadCols;
/// each accesses 16 bytes of T, neighbours along a row.
template <class T, index_t ThreadRows, index_t ThreadCols>
struct base_tile {
  static_assert(ThreadRows > 0 && (ThreadRows * ThreadCols == 32 || ThreadRows * ThreadCols == 64),
                "base_tile: thread rows times thread columns must be the lanes of a wave, 32 or 64");
  static_assert(16 % sizeof(T) == 0, "base_tile: the element type's size must divide 16 bytes");

  using element_type = T;
  static constexpr index_t access_bytes = 16;                           ///< of a lane
  static constexpr index_t vector = access_bytes / index_t(sizeof(T));  ///< elements of one access
  static constexpr index_t wave_size = ThreadRows * ThreadCols;         ///< lanes that share the pattern
  static constexpr index_t rows = ThreadRows;                           ///< rows of the tile
  static constexpr index_t cols = ThreadCols * vector;                  ///< elements of a row
  static constexpr index_t row_bytes = ThreadCols * access_bytes;       ///< of a row
  static constexpr index_t bytes = wave_size * access_bytes;            ///< of the tile

  /// Each lane has a vector of a row.
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
