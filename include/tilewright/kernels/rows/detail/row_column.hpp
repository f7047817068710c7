// SPDX-License-Identifier: MIT
// One element of each row, by its column: load, change. Columns are counted from the start of the row.
#pragma once

#include <tilewright/block/rows/row_block.hpp>

namespace tilewright::detail {

/// The element in the row's column; 0 where this is negative.
template <class Block, class T>
TILEWRIGHT_HD T load_column(const Block& rows, const T* matrix, long_index_t row_stride, index_t col) {
  const exec::global_buffer buffer = exec::make_global_buffer(
      matrix + rows.first_row * row_stride, ((rows.rows - 1) * row_stride + rows.all_cols) * long_index_t(sizeof(T)));
  return exec::buffer_load<T>(buffer, rows.row < rows.rows && col >= 0
                                          ? long_index_t(sizeof(T)) * (rows.row * row_stride + col)
                                          : long_index_t{-1});
}

/// f(element) instead of the element in the row's column.
template <class Block, class F>
TILEWRIGHT_HD void change_at(const Block& rows, typename Block::template segment<float>& tile, index_t first_col,
                             index_t column, F f) {
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < Block::elements; i += Block::access) {
    const unsigned at = unsigned(column) - unsigned(rows.position(first_col, i));
    if (at >= unsigned(Block::access)) continue;
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = i; d < min(i + Block::access, Block::elements); ++d)
      tile.thread_buffer[d] = at == unsigned(d - i) ? f(tile.thread_buffer[d]) : tile.thread_buffer[d];
  }
}

}  // namespace tilewright::detail
