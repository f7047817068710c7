// SPDX-License-Identifier: MIT
// The rows of a block in global memory: which threads hold which vectors, loads and stores with masks.
#pragma once

#include <tilewright/rows/check_rows.hpp>
#include <tilewright/rows/row_cluster.hpp>
#include <tilewright/rows/row_tile.hpp>
#include <tilewright/rows/unaligned_row.hpp>
#include <tilewright/tile/load_store.hpp>
#include <tilewright/tile/reduce_tile.hpp>

namespace tilewright::detail {

/// The rows of the calling block, and its columns of them, if blocks share a row: `cols` of all_cols, from base_col on.
/// Parts of Tile.cols() columns are tiles. Columns are counted from base_col, unless something else is said.
template <class Arch, row_tile Tile>
struct row_memory {
  static_assert(require_row_tile<Arch, Tile>());
  using distribution = tile_distribution<row_tile_encoding<Tile, Arch::value.wave_size>>;
  using of_rows = reduced_distribution<distribution, 1>;  // one value for each row, in all threads that share it
  using of_cols = reduced_distribution<distribution, 0>;
  using row_values = static_distributed_tensor<float, of_rows>;
  template <class T>
  using part = static_distributed_tensor<T, distribution>;
  static constexpr index_t part_cols = Tile.cols();

  index_t first_row, rows, cols, all_cols, base_col = 0;

  TILEWRIGHT_HD row_memory(index_t first, index_t num_rows, index_t num_cols)
      : first_row(first), rows(num_rows - first), cols(num_cols), all_cols(num_cols) {
    if constexpr (Tile.blocks > 1) {
      base_col = block_of_row<Tile.blocks>() * share();
      cols = max(0, min(share(), all_cols - base_col));
    }
  }
  /// Why a block cannot take the rows of these matrices; nullptr if it can.
  static const char* check(const auto&... matrices) {
    const char* why = nullptr;
    ((why = why ? why : check_matrix(matrices, Tile.any_start ? 1 : Tile.vector, Tile.rows())), ...);
    return why;
  }
  /// The same for values of columns.
  static const char* check_cols(const row_matrix& m) {
    const bool is_fit = reinterpret_cast<unsigned long long>(m.data) % unsigned(Tile.vector * m.element_bytes) == 0;
    return is_fit ? check(m) : "weight and bias must be aligned to vectors; a vector of 1 takes any";
  }
  /// The columns of all blocks that share the row but the last ones.
  TILEWRIGHT_HD index_t share() const {
    return Tile.blocks == 1 ? all_cols : round_up(ceil_div(all_cols, Tile.blocks), 128);
  }
  /// Whether no block has more than one part of a row.
  TILEWRIGHT_HD bool is_single() const { return share() <= part_cols; }
  /// The columns of the first parts of all blocks.
  TILEWRIGHT_HD index_t first_parts() const {
    if (is_single()) return all_cols;
    index_t sum = 0;
    for (index_t base = 0; base < all_cols; base += share()) sum += min(part_cols, all_cols - base);
    return sum;
  }

  template <class T>
  TILEWRIGHT_HD auto window(T* matrix, long_index_t row_stride, index_t first_col) const {
    return make_tile_window(make_naive_tensor_view<address_space_enum::global>(
                                matrix + (first_row * row_stride + base_col), make_tuple(rows, cols),
                                make_tuple(index_t(row_stride), number<1>{}), number<Tile.vector>{}),
                            make_tuple(number<Tile.rows()>{}, number<part_cols>{}), {0, first_col}, distribution{});
  }
  template <class T, bool AnyStart = Tile.any_start>
  using row_of = unaligned_row<sizeof(T), sizeof(T) * Tile.vector, min(Tile.threads_per_row, Arch::value.wave_size),
                               Tile.vectors, AnyStart>;
  /// The thread's row of a matrix.
  template <class T>
  TILEWRIGHT_HD row_of<T> own_row(T* matrix, long_index_t row_stride) const {
    const index_t row = own_position()[0];
    return {matrix + (first_row * row_stride + base_col), first_row == 0 && base_col == 0,
            (rows - 1) * row_stride + (all_cols - base_col), row * index_t(row_stride), row < rows ? cols : 0};
  }
  /// The columns from first_col on; zeros outside.
  template <class T>
  TILEWRIGHT_HD auto load(const T* matrix, long_index_t row_stride, index_t first_col) const {
    if constexpr (Tile.any_start) {
      return bit_cast<part<T>>(own_row(matrix, row_stride).load(col_of(first_col, 0)));
    } else {
      return load_tile(window(matrix, row_stride, first_col));
    }
  }
  template <class T>
  TILEWRIGHT_HD void store(T* matrix, long_index_t row_stride, index_t first_col, const part<T>& tile) const {
    if constexpr (Tile.any_start) {
      own_row(matrix, row_stride).store(bit_cast<typename row_of<T>::vectors>(tile), col_of(first_col, 0));
    } else {
      store_tile(window(matrix, row_stride, first_col), tile);
    }
  }
  /// Values for each column, such as weights.
  template <class T>
  TILEWRIGHT_HD auto window_of_cols(T* values, index_t first_col) const {
    return make_tile_window(make_naive_tensor_view_packed<address_space_enum::global>(
                                values + base_col, make_tuple(values ? cols : 0), number<Tile.vector>{}),
                            make_tuple(number<part_cols>{}), {first_col}, of_cols{});
  }
  /// Zeros without `values`: no branch.
  template <class T>
  TILEWRIGHT_HD auto load_cols(const T* values, index_t first_col) const {
    if constexpr (Tile.any_start) {
      const row_of<T, false> row(values + base_col, base_col == 0, values ? all_cols - base_col : 0, 0,
                                 values ? cols : 0);
      return bit_cast<static_distributed_tensor<T, of_cols>>(row.load(col_of(first_col, 0)));
    } else {
      return load_tile(window_of_cols(values, first_col));
    }
  }
  template <class T>
  TILEWRIGHT_HD void store_cols(T* values, index_t first_col, const static_distributed_tensor<T, of_cols>& tile) const {
    store_tile(window_of_cols(values, first_col), tile);
  }
  /// One value for each row, in all threads that share it.
  template <class T>
  TILEWRIGHT_HD auto load_rows(const T* values) const {
    return load_tile(make_tile_window(
        make_naive_tensor_view_packed<address_space_enum::global>(values + first_row, make_tuple(rows)),
        make_tuple(number<Tile.rows()>{}), {0}, of_rows{}));
  }
  /// Writes one value for each row, `stride` elements apart.
  template <class T>
  TILEWRIGHT_HD void store_rows(T* to, const static_distributed_tensor<T, of_rows>& values,
                                long_index_t stride = 1) const {
    if (!is_first_replica<of_rows>() || base_col > 0) return;
    const auto view = make_naive_tensor_view<address_space_enum::global>(to + first_row * stride, make_tuple(rows),
                                                                         make_tuple(index_t(stride)));
    store_tile(make_tile_window(view, make_tuple(number<Tile.rows()>{}), {0}, of_rows{}), values);
  }
  /// Gives elements outside of the rows this value. Rows end where a vector ends, unless they have any_start: one
  /// comparison for each vector, and no branch, after which all elements would need registers at once.
  template <class T>
  TILEWRIGHT_HD void mask(part<T>& tile, index_t first_col, T value) const {
    if (Tile.any_start && col_of(first_col, distribution::num_elements - 1) < cols) return;
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < distribution::num_elements; ++d) {
      const index_t col = col_of(first_col, Tile.any_start ? d : d / Tile.vector * Tile.vector);
      tile.thread_buffer[d] = unsigned(col) < unsigned(cols) ? tile.thread_buffer[d] : value;
    }
  }
  TILEWRIGHT_HD static multi_index<2> own_position() {
    return distribution::calculate_index(get_partition_index<distribution>());
  }
  /// The column of the thread's element d in the part that begins at first_col.
  TILEWRIGHT_HD index_t col_of(index_t first_col, index_t d) const {
    return first_col + position_in_tile<distribution>(own_position(), d)[1];
  }
};

}  // namespace tilewright::detail
