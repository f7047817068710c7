// SPDX-License-Identifier: MIT
// How a block takes rows of any length: which threads hold which vectors, loads and stores with masks, loops over
// parts.
#pragma once

#include <tilewright/rows/check_rows.hpp>
#include <tilewright/rows/row_cluster.hpp>
#include <tilewright/rows/row_tile.hpp>
#include <tilewright/tile/load_store.hpp>
#include <tilewright/tile/reduce_tile.hpp>

namespace tilewright {

namespace detail {

TILEWRIGHT_HD void add_to(auto& sums, const auto& more) {
  tile_elementwise_inout([](float& s, float m) { s += m; }, sums, more);
}

/// The rows of the calling block, and its columns of them, if blocks share a row: `cols` of all_cols, from base_col on.
/// Parts of Tile.cols() columns are tiles. Columns are counted from base_col, unless something else is said.
template <class Arch, row_tile Tile>
struct row_block {
  static_assert(require_row_tile<Arch, Tile>());
  using distribution = tile_distribution<row_tile_encoding<Tile, Arch::value.wave_size>>;
  using of_rows = reduced_distribution<distribution, 1>;  // one value for each row, in all threads that share it
  using of_cols = reduced_distribution<distribution, 0>;
  using row_values = static_distributed_tensor<float, of_rows>;
  template <class T>
  using part = static_distributed_tensor<T, distribution>;
  static constexpr index_t part_cols = Tile.cols();
  static constexpr index_t lanes_per_row = min(Tile.threads_per_row, Arch::value.wave_size);
  static constexpr index_t waves_per_row = ceil_div(Tile.threads_per_row, Arch::value.wave_size);
  /// LDS of one reduction: 4 bytes for each wave, and for each block that shares the row; 0 if it belongs to one wave.
  static constexpr index_t bytes_of_waves = waves_per_row > 1 ? Tile.threads / Arch::value.wave_size * 4 : 0;
  static constexpr index_t lds_bytes = bytes_of_waves + (Tile.blocks > 1 ? Tile.blocks * 4 : 0);

  /// Enough for memory to be busy: blocks wait for their loads, then for each other.
  static constexpr index_t blocks_at_once = Tile.vectors > 2 ? ceil_div(768, Tile.threads)
                                                             : max(1, 1536 / Tile.threads);

  index_t first_row, rows, cols, all_cols, base_col = 0;

  TILEWRIGHT_HD row_block(index_t first, index_t num_rows, index_t num_cols)
      : first_row(first), rows(num_rows - first), cols(num_cols), all_cols(num_cols) {
    if constexpr (Tile.blocks > 1) {
      base_col = block_of_row<Tile.blocks>() * share();
      cols = max(0, min(share(), all_cols - base_col));
    }
  }
  /// The rows of the grid's blocks in order.
  TILEWRIGHT_HD static row_block of_grid(index_t num_rows, index_t num_cols) {
    return {index_t(unsigned(exec::block_id().x) / unsigned(Tile.blocks)) * Tile.rows(), num_rows, num_cols};
  }
  static constexpr exec::block_index grid(index_t num_rows) {
    return {ceil_div(num_rows, Tile.rows()) * Tile.blocks, 1, 1};
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
  /// The columns from first_col on; zeros outside.
  template <class T>
  TILEWRIGHT_HD auto load(const T* matrix, long_index_t row_stride, index_t first_col) const {
    return load_tile(window(matrix, row_stride, first_col));
  }
  template <class T>
  TILEWRIGHT_HD void store(T* matrix, long_index_t row_stride, index_t first_col, const part<T>& tile) const {
    store_tile(window(matrix, row_stride, first_col), tile);
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
    return load_tile(window_of_cols(values, first_col));
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
  /// Gives elements after the end of the rows this value. Rows end where a vector ends: one comparison for each vector,
  /// and no branch, after which all elements would need registers at once.
  template <class T>
  TILEWRIGHT_HD void mask(part<T>& tile, index_t first_col, T value) const {
    const multi_index<2> own = distribution::calculate_index(get_partition_index<distribution>());
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < distribution::num_elements; ++d) {
      const index_t col = first_col + position_in_tile<distribution>(own, d / Tile.vector * Tile.vector)[1];
      tile.thread_buffer[d] = col < cols ? tile.thread_buffer[d] : value;
    }
  }

  /// f(part, first_col) for each part from the first to the last; `tile` holds the first one already, and holds the
  /// last one afterwards. `load(first_col)` reads a part.
  template <class Part, class Load, class F>
  TILEWRIGHT_HD void forward(Part& tile, Load load, F f) const {
    TILEWRIGHT_UNROLL(1)
    for (index_t first = 0;;) {
      f(tile, first);
      if (cols - first <= part_cols) return;
      first += part_cols;
      tile = load(first);
    }
  }
  /// Where the last part begins.
  TILEWRIGHT_HD index_t last_part() const { return (cols - 1) / part_cols * part_cols; }
  /// The same from the last part, which `tile` holds already, to the first.
  template <class Part, class Load, class F>
  TILEWRIGHT_HD void backward(Part& tile, Load load, F f) const {
    TILEWRIGHT_UNROLL(1)
    for (index_t first = last_part();;) {
      f(tile, first);
      if (first == 0) return;
      first -= part_cols;
      tile = load(first);
    }
  }

  /// LDS for some reductions; then the blocks that share a row have all started. After the first loads, which are in
  /// flight meanwhile.
  template <index_t Reductions>
  TILEWRIGHT_HD static exec::lds_pointer allocate() {
    if constexpr (Reductions * lds_bytes > 0) {
      const auto lds = exec::lds_allocate<Reductions * lds_bytes>();
      start_cluster<Tile.blocks>();
      return lds;
    } else {
      return {};
    }
  }
  /// What each thread's own elements of its rows give; reduce_threads combines them.
  template <class F>
  TILEWRIGHT_HD static row_values reduce_own(const part<float>& tile, F f) {
    return reduce_registers<float>(tile, f, sequence<1>{});
  }
  /// Combines values of the threads that share rows: combine(number<n>{}) combines those of n neighbouring lanes, first
  /// of the lanes that share a row, then of lanes for each of its waves, then for each of its blocks. Each use needs
  /// lds_bytes for each value.
  template <class Combine, class... Values>
  TILEWRIGHT_HD static void reduce_levels(exec::lds_pointer lds, Combine combine, Values&... values) {
    combine(number<lanes_per_row>{});
    if constexpr (waves_per_row > 1) {
      const unsigned lane = unsigned(exec::lane_id()), wave = unsigned(exec::wave_id()),
                     waves = unsigned(waves_per_row);
      index_t place = 0;
      if (lane == 0)
        ((exec::lds_store(lds, index_t(wave * 4) + place, values.thread_buffer[0]), place += lds_bytes), ...);
      exec::block_sync();
      place = index_t((wave / waves * waves + lane % waves) * 4);
      ((values.thread_buffer[0] = exec::lds_load<remove_cvref_t<decltype(values.thread_buffer[0])>>(lds, place),
        place += lds_bytes),
       ...);
      combine(number<waves_per_row>{});
    }
    if constexpr (Tile.blocks > 1) {
      exchange_blocks<Tile.blocks>(lds + bytes_of_waves, lds_bytes, values.thread_buffer[0]...);
      combine(number<Tile.blocks>{});
    }
  }
  /// The same by f for each of the values.
  template <class F, class... Values>
  TILEWRIGHT_HD static void reduce_threads(F f, exec::lds_pointer lds, Values&... values) {
    reduce_levels(
        lds,
        [&](auto n) TILEWRIGHT_INLINE_LAMBDA {
          ((values.thread_buffer[0] = combine_lanes<1, decltype(n)::value>(values.thread_buffer[0], f)), ...);
        },
        values...);
  }
};

}  // namespace detail

}  // namespace tilewright
