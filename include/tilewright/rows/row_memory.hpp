// SPDX-License-Identifier: MIT
// The rows of a block in global memory: which threads hold which vectors, loads and stores with masks.
#pragma once

#include <tilewright/rows/check_rows.hpp>
#include <tilewright/rows/row_cluster.hpp>
#include <tilewright/rows/row_tile.hpp>
#include <tilewright/rows/row_vectors.hpp>
#include <tilewright/tile/load_store.hpp>
#include <tilewright/tile/reduce_tile.hpp>

namespace tilewright::detail {

/// The rows of the calling block, and its columns of them, if blocks share a row: `cols` of all_cols, from base_col on.
/// Parts of Tile.cols() columns are tiles. Columns are counted from base_col, unless something else is said. If rows
/// start anywhere, parts begin `lead` columns earlier, where a vector of the anchor is aligned: one of the matrices.
/// Others whose rows start at the same element of a vector are aligned, too.
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

  index_t first_row, rows, cols, all_cols, base_col = 0, lead = 0;

  template <class T = char>
  TILEWRIGHT_HD row_memory(index_t first, index_t num_rows, index_t num_cols, const T* anchor = nullptr,
                           long_index_t row_stride = 0)
      : first_row(first), rows(num_rows - first), all_cols(num_cols) {
    if constexpr (Tile.blocks > 1) base_col = block_of_row<Tile.blocks>() * share();
    if (Tile.any_start && anchor) {
      const unsigned row = unsigned(first_row + own_position()[0]);
      const unsigned element = unsigned(reinterpret_cast<unsigned long long>(anchor) / sizeof(T));
      lead = modulo(index_t(element + row * unsigned(row_stride)), Tile.vector);
    }
    cols = max(0, min(share(), all_cols + most_lead - base_col));
  }
  /// Why a block cannot take the rows of these matrices; nullptr if it can.
  static const char* check(const auto&... matrices) {
    const char* why = nullptr;
    ((why = why ? why : check_matrix(matrices, Tile.any_start ? 1 : Tile.vector, Tile.rows())), ...);
    return why;
  }
  /// The columns of all blocks that share the row but the last ones.
  TILEWRIGHT_HD index_t share() const {
    constexpr index_t blocks = Tile.blocks;
    return blocks == 1 ? all_cols + most_lead : round_up(ceil_div(all_cols + most_lead, blocks), 128);
  }
  /// Whether no block has more than one part of a row.
  TILEWRIGHT_HD bool is_single() const { return share() <= part_cols; }
  /// The columns of the first parts of all blocks.
  TILEWRIGHT_HD index_t first_parts() const {
    if (is_single()) return all_cols;
    index_t sum = 0;
    for (index_t base = -lead; base < all_cols; base += share()) sum += min(base + part_cols, all_cols) - max(base, 0);
    return sum;
  }
  /// The row's columns in this block: lower() to upper() - 1.
  TILEWRIGHT_HD index_t lower() const { return Tile.blocks > 1 && base_col > 0 ? -lead : 0; }
  TILEWRIGHT_HD index_t upper() const {
    return Tile.any_start ? max(lower(), min(share() - lead, all_cols - base_col)) : cols;
  }

  template <class T>
  using row_of = row_vectors<sizeof(T), sizeof(T) * Tile.vector, min(Tile.threads_per_row, Arch::value.wave_size),
                             Tile.vectors, Tile.any_start>;
  /// The same registers as another type, which may end with padding.
  template <class To, class From>
  TILEWRIGHT_HD static To as(const From& from) {
    To to;
    __builtin_memcpy(&to, &from, min(sizeof(To), sizeof(From)));
    return to;
  }
  /// The thread's row of a matrix.
  template <class T>
  TILEWRIGHT_HD row_of<T> own_row(T* matrix, long_index_t row_stride) const {
    const index_t row = own_position()[0];
    const long_index_t before = first_row * row_stride + base_col;
    return row_from(matrix + before, before, row * index_t(row_stride), (rows - 1) * row_stride + all_cols - base_col,
                    row < rows);
  }
  /// The columns from first_col on; zeros outside.
  template <class T>
  TILEWRIGHT_HD part<T> load(const T* matrix, long_index_t row_stride, index_t first_col) const {
    return as<part<T>>(own_row(matrix, row_stride).load(col_of(first_col, 0)));
  }
  template <class T>
  TILEWRIGHT_HD void store(T* matrix, long_index_t row_stride, index_t first_col, const part<T>& tile) const {
    own_row(matrix, row_stride).store(as<typename row_of<T>::vectors>(tile), col_of(first_col, 0));
  }
  /// Values for each column, such as weights. Zeros without `values`: no branch.
  template <class T>
  TILEWRIGHT_HD auto load_cols(const T* values, index_t first_col) const {
    const row_of<T> row = row_from(values + base_col, 0, 0, 0, values != nullptr);
    return as<static_distributed_tensor<T, of_cols>>(row.load(col_of(first_col, 0)));
  }
  /// The same numbers as floats. A bfloat16_t in the upper half of a register is one without its lower half.
  template <class Values>
  TILEWRIGHT_HD static auto to_float(const Values& tile) {
    if constexpr (__is_same(typename Values::element_type, bfloat16_t) && Values::num_elements % 2 == 0) {
      constexpr index_t pairs = Values::num_elements / 2;
      const auto words = as<array<unsigned, pairs>>(tile);
      array<unsigned, 2 * pairs> wide;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < pairs; ++i) wide[2 * i] = words[i] << 16, wide[2 * i + 1] = words[i] & 0xffff0000u;
      return as<static_distributed_tensor<float, typename Values::distribution_type>>(wide);
    } else {
      return cast_tile<float>(tile);
    }
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
    const index_t from = lower(), count = upper() - from;
    if (Tile.any_start && col_of(first_col, 0) >= from &&
        col_of(first_col, distribution::num_elements - 1) < from + count)
      return;
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < distribution::num_elements; ++d) {
      const index_t col = col_of(first_col, Tile.any_start ? d : d / Tile.vector * Tile.vector);
      tile.thread_buffer[d] = unsigned(col - from) < unsigned(count) ? tile.thread_buffer[d] : value;
    }
  }
  TILEWRIGHT_HD static multi_index<2> own_position() {
    return distribution::calculate_index(get_partition_index<distribution>());
  }
  /// The column of the thread's element d in the part that begins at first_col, before the lead.
  TILEWRIGHT_HD index_t col_of(index_t first_col, index_t d) const {
    return first_col - lead + position_in_tile<distribution>(own_position(), d)[1];
  }

 private:
  static constexpr index_t most_lead = Tile.any_start ? Tile.vector - 1 : 0;

  /// The thread's part of a row that begins `offset` elements after `first`, which is the same for all lanes. The
  /// matrix has `before` elements in front of `first`, and `after` from `first` to its end. Without `exists` the row is
  /// empty.
  template <class T>
  TILEWRIGHT_HD row_of<T> row_from(T* first, long_index_t before, index_t offset, long_index_t after,
                                   bool exists) const {
    constexpr index_t bytes = sizeof(T);
    constexpr unsigned size = unsigned(bytes * Tile.vector), ahead_of_lead = Tile.blocks > 1 ? size : 0;
    const unsigned in_vector = unsigned(reinterpret_cast<unsigned long long>(first) % size);
    const index_t ahead = Tile.any_start ? index_t(in_vector + ahead_of_lead) : 0;
    const char* const aligned = static_cast<const char*>(static_cast<const void*>(first)) - ahead;
    return {exec::make_global_buffer(aligned, 0x7fffffff),
            index_t(max(ahead - before * bytes, long_index_t{0})),
            index_t(min(ahead + after * bytes, long_index_t{0x7fffffff})),
            ahead + offset * bytes,
            lower(),
            exists ? upper() : lower()};
  }
};

}  // namespace tilewright::detail
