// SPDX-License-Identifier: MIT
// The rows of a block in global memory: which threads hold which vectors, loads and stores with masks.
#pragma once

#include <tilewright/rows/check_rows.hpp>
#include <tilewright/rows/row_cluster.hpp>
#include <tilewright/rows/row_tile.hpp>
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
  index_t shift = 0;  // with any_start: elements of the first vector before the start of the thread's row

  TILEWRIGHT_HD row_memory(index_t first, index_t num_rows, index_t num_cols)
      : first_row(first), rows(num_rows - first), cols(num_cols), all_cols(num_cols) {
    if constexpr (Tile.blocks > 1) {
      base_col = block_of_row<Tile.blocks>() * share();
      cols = max(0, min(share(), all_cols - base_col));
    }
  }
  /// Why a block cannot take the rows of a matrix; nullptr if it can.
  static const char* check(const row_matrix& m) {
    return check_matrix(m, Tile.any_start ? 1 : Tile.vector, Tile.rows());
  }
  /// Why it cannot take them together.
  static const char* check(const row_matrix& a, const row_matrix& b) {
    if (const char* why = check(a)) return why;
    if (const char* why = check(b)) return why;
    const auto start = [](const row_matrix& m) {
      return reinterpret_cast<unsigned long long>(m.data) / unsigned(m.element_bytes) % unsigned(Tile.vector);
    };
    if (Tile.any_start && (start(a) != start(b) || (a.row_stride - b.row_stride) % Tile.vector != 0))
      return "rows may start anywhere within a vector, but in all matrices alike: use a vector of 1";
    return nullptr;
  }
  /// The columns of all blocks that share the row but the last ones.
  TILEWRIGHT_HD index_t share() const {
    return Tile.blocks == 1 ? all_cols : round_up(ceil_div(all_cols, Tile.blocks), 128);
  }
  /// Columns up to the end of any row, counted as in tiles.
  TILEWRIGHT_HD index_t end() const { return cols + (Tile.any_start ? Tile.vector - 1 : 0); }
  /// Whether no block has more than one part of a row.
  TILEWRIGHT_HD bool is_single() const { return share() + (end() - cols) <= part_cols; }
  /// The columns of the first parts of all blocks.
  TILEWRIGHT_HD index_t first_parts() const {
    if (is_single()) return all_cols;
    index_t sum = 0;
    for (index_t base = 0; base < all_cols; base += share()) sum += min(part_cols - shift, all_cols - base);
    return sum;
  }

  template <class T>
  TILEWRIGHT_HD auto window(T* matrix, long_index_t row_stride, index_t first_col) const {
    return make_tile_window(make_naive_tensor_view<address_space_enum::global>(
                                matrix + (first_row * row_stride + base_col), make_tuple(rows, cols),
                                make_tuple(index_t(row_stride), number<1>{}), number<Tile.vector>{}),
                            make_tuple(number<Tile.rows()>{}, number<part_cols>{}), {0, first_col}, distribution{});
  }
  /// The columns from first_col on; zeros outside.
  template <class T>
  TILEWRIGHT_HD auto load(const T* matrix, long_index_t row_stride, index_t first_col) const {
    if constexpr (Tile.any_start) {
      part<T> tile;
      move_rows(tile, matrix, row_stride, first_col, [](auto& own, const auto& memory, index_t at) {
        own = exec::buffer_load<remove_cvref_t<decltype(own)>>(memory, at);
      });
      return tile;
    } else {
      return load_tile(window(matrix, row_stride, first_col));
    }
  }
  template <class T>
  TILEWRIGHT_HD void store(T* matrix, long_index_t row_stride, index_t first_col, const part<T>& tile) const {
    if constexpr (Tile.any_start) {
      move_rows(tile, matrix, row_stride, first_col,
                [](const auto& own, const auto& memory, index_t at) { exec::buffer_store(memory, at, own); });
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
      static_distributed_tensor<T, of_cols> result;
      const auto memory = exec::make_global_buffer(values, values ? long_index_t(sizeof(T)) * cols : 0);
      const auto own = of_cols::calculate_index(get_partition_index<of_cols>());
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < of_cols::num_elements; ++d) {
        const index_t col = first_col + position_in_tile<of_cols>(own, d)[0] - shift;
        result.thread_buffer[d] = exec::buffer_load<T>(memory, col * index_t(sizeof(T)));
      }
      return result;
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
    return first_col + position_in_tile<distribution>(own_position(), d)[1] - shift;
  }

 private:
  /// move(vector, memory, offset) for each vector of a part that is inside of its row, move(element, memory, offset)
  /// for the elements of those that are not. Zeros where nothing is.
  template <class Tensor, class T, class Move>
  TILEWRIGHT_HD void move_rows(Tensor& tile, T* matrix, long_index_t row_stride, index_t first_col, Move move) const {
    constexpr index_t bytes = sizeof(T), vector = Tile.vector;
    using access = vector_t<remove_cvref_t<T>, vector>;
    const auto memory = exec::make_global_buffer(matrix + first_row * row_stride,
                                                 ((rows - 1) * row_stride + cols) * long_index_t{bytes});
    const index_t row = own_position()[0];
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < distribution::num_elements; d += vector) {
      const index_t col = col_of(first_col, d);
      const bool is_whole = row < rows && col >= 0 && col + vector <= cols;
      access v;
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < vector; ++e) v[e] = tile.thread_buffer[d + e];
      move(v, memory, is_whole ? (row * index_t(row_stride) + col) * bytes : exec::out_of_bounds_offset);
      if constexpr (!__is_same(const Tensor, Tensor)) {
        TILEWRIGHT_UNROLL_ALL
        for (index_t e = 0; e < vector; ++e) tile.thread_buffer[d + e] = v[e];
      }
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < distribution::num_elements; d += vector) {
      const index_t col = col_of(first_col, d);
      if (row >= rows || (col >= 0 && col + vector <= cols) || col <= -vector || col >= cols) continue;
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < vector; ++e) {
        if (unsigned(col + e) < unsigned(cols))
          move(tile.thread_buffer[d + e], memory, (row * index_t(row_stride) + col + e) * bytes);
      }
    }
  }
};

}  // namespace tilewright::detail
