// SPDX-License-Identifier: MIT
// One element of each row, by its column: load, change. Columns are counted from the start of the row.
#pragma once

#include <tilewright/rows/row_block.hpp>

namespace tilewright::detail {

template <class Block>
using row_columns = static_distributed_tensor<index_t, typename Block::of_rows>;

/// The element in the row's column; 0 where this is negative.
template <class Block, class T>
TILEWRIGHT_HD auto load_column(const Block& rows, const T* matrix, long_index_t row_stride,
                               const row_columns<Block>& column) {
  const index_t own = Block::of_rows::calculate_index(get_partition_index<typename Block::of_rows>())[0];
  const index_t col = column.thread_buffer[0];
  const exec::global_buffer buffer = exec::make_global_buffer(
      matrix + rows.first_row * row_stride, ((rows.rows - 1) * row_stride + rows.all_cols) * long_index_t(sizeof(T)));
  static_distributed_tensor<T, typename Block::of_rows> result;
  result.thread_buffer[0] = exec::buffer_load<T>(
      buffer, own < rows.rows && col >= 0 ? long_index_t(sizeof(T)) * (own * row_stride + col) : long_index_t{-1});
  return result;
}

/// f(element) in place of the element in the row's column.
template <class Block, class F>
TILEWRIGHT_HD void change_at(const Block& rows, typename Block::template part<float>& tile, index_t first_col,
                             const row_columns<Block>& column, F f) {
  TILEWRIGHT_UNROLL_ALL
  for (index_t d = 0; d < Block::distribution::num_elements; ++d) {
    const index_t here = column.thread_buffer[0] - rows.base_col - rows.col_of(first_col, d);
    tile.thread_buffer[d] = here == 0 ? f(tile.thread_buffer[d]) : tile.thread_buffer[d];
  }
}

}  // namespace tilewright::detail
