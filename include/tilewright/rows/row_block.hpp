// SPDX-License-Identifier: MIT
// How a block takes rows of any length: which threads hold which vectors, loads and stores with masks, loops over
// parts.
#pragma once

#include <tilewright/rows/check_rows.hpp>
#include <tilewright/tile/load_store.hpp>
#include <tilewright/tile/reduce_tile.hpp>

namespace tilewright {

/// The part of a matrix that a block holds in registers: threads / threads_per_row rows of threads_per_row *
/// vectors * vector columns. Longer rows are read part by part.
struct row_tile {
  index_t threads = 256, threads_per_row = 32, vectors = 4, vector = 8;

  TILEWRIGHT_HD constexpr index_t rows() const { return threads / threads_per_row; }
  TILEWRIGHT_HD constexpr index_t cols() const { return threads_per_row * vectors * vector; }
  friend constexpr bool operator==(const row_tile&, const row_tile&) = default;
};

/// A good row_tile for rows of about `cols` elements: up to 1024 threads share a row, and a thread holds 2 vectors, or
/// up to 4 of longer rows. `vector`: elements of an access; 16 bytes, or 1 for lengths and strides that are no
/// multiples.
TILEWRIGHT_HD constexpr row_tile choose_row_tile(index_t cols, index_t vector) {
  const index_t few = vector == 1 ? 8 : 2;
  row_tile tile{.threads = 256, .threads_per_row = 4, .vectors = few, .vector = vector};
  while (tile.threads_per_row < 1024 && tile.cols() < cols) tile.threads_per_row *= 2;
  if (tile.cols() < cols) tile.vectors = 2 * few;
  tile.threads = max(256, tile.threads_per_row);
  while (tile.vectors > 1 && cols <= tile.cols() - tile.threads_per_row * tile.vector) --tile.vectors;
  return tile;
}

namespace detail {

TILEWRIGHT_HD void add_to(auto& sums, const auto& more) {
  tile_elementwise_inout([](float& s, float m) { s += m; }, sums, more);
}

/// Neighbouring lanes hold neighbouring vectors; lanes, then waves share a row, then come the next rows.
template <row_tile Tile, index_t Wave>
inline constexpr distribution_encoding row_tile_encoding = [] {
  constexpr index_t lanes = min(Tile.threads_per_row, Wave), waves = Tile.threads_per_row / lanes;
  return tile_distribution_encoding<
      sequence<>,
      tuple<sequence<Tile.threads / Wave / waves, Wave / lanes>, sequence<Tile.vectors, waves, lanes, Tile.vector>>,
      tuple<sequence<1, 2>, sequence<1, 2>>, tuple<sequence<0, 1>, sequence<1, 2>>, sequence<2, 2>,
      sequence<0, 3>>::value;
}();

/// Whether waves and lanes divide the tile, with a sentence for each rule.
template <class Arch, row_tile Tile>
TILEWRIGHT_HD constexpr bool require_row_tile() {
  constexpr index_t wave = Arch::value.wave_size;
  static_assert(Tile.threads % wave == 0 && Tile.threads <= 1024,
                "row_tile: a block has whole waves and at most 1024 threads");
  static_assert(is_power_of_two(Tile.threads_per_row) && Tile.threads % Tile.threads_per_row == 0,
                "row_tile: threads_per_row is a power of two that divides the threads");
  static_assert(Tile.vectors > 0 && is_power_of_two(Tile.vector) && Tile.vector <= 16,
                "row_tile: a thread holds at least one vector, of up to 16 elements");
  return true;
}

/// The rows of the calling block: block b has those from b * Tile.rows() on. Parts of Tile.cols() columns are tiles.
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
  /// LDS of one reduction across waves: 4 bytes for each; 0 if a row belongs to one wave.
  static constexpr index_t lds_bytes = waves_per_row > 1 ? Tile.threads / Arch::value.wave_size * 4 : 0;

  /// Enough for memory to be busy: blocks wait for their loads, then for each other.
  static constexpr index_t blocks_at_once = max(1, 1536 / Tile.threads);

  index_t first_row, rows, cols;

  TILEWRIGHT_HD row_block(index_t first, index_t num_rows, index_t num_cols)
      : first_row(first), rows(num_rows - first), cols(num_cols) {}

  template <class T>
  TILEWRIGHT_HD auto window(T* matrix, long_index_t row_stride, index_t first_col) const {
    return make_tile_window(make_naive_tensor_view<address_space_enum::global>(
                                matrix + first_row * row_stride, make_tuple(rows, cols),
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
    return make_tile_window(
        make_naive_tensor_view_packed<address_space_enum::global>(values, make_tuple(cols), number<Tile.vector>{}),
        make_tuple(number<part_cols>{}), {first_col}, of_cols{});
  }
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
    if (!is_first_replica<of_rows>()) return;
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

  /// One element of each row: that in the row's column; 0 where this is negative.
  template <class T>
  TILEWRIGHT_HD auto load_column(const T* matrix, long_index_t row_stride,
                                 const static_distributed_tensor<index_t, of_rows>& column) const {
    const index_t own = of_rows::calculate_index(get_partition_index<of_rows>())[0];
    const index_t col = column.thread_buffer[0];
    const exec::global_buffer buffer = exec::make_global_buffer(
        matrix + first_row * row_stride, ((rows - 1) * row_stride + cols) * long_index_t(sizeof(T)));
    static_distributed_tensor<T, of_rows> result;
    result.thread_buffer[0] = exec::buffer_load<T>(
        buffer, own < rows && col >= 0 ? long_index_t(sizeof(T)) * (own * row_stride + col) : long_index_t{-1});
    return result;
  }
  /// f(element) of one element of each row: that in the row's column.
  template <class F>
  TILEWRIGHT_HD void change_at(part<float>& tile, index_t first_col,
                               const static_distributed_tensor<index_t, of_rows>& column, F f) const {
    const multi_index<2> own = distribution::calculate_index(get_partition_index<distribution>());
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < distribution::num_elements; ++d) {
      const index_t here = column.thread_buffer[0] - first_col - position_in_tile<distribution>(own, d)[1];
      tile.thread_buffer[d] = here == 0 ? f(tile.thread_buffer[d]) : tile.thread_buffer[d];
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

  /// LDS for some reductions across waves.
  template <index_t Reductions>
  TILEWRIGHT_HD static exec::lds_pointer allocate() {
    if constexpr (lds_bytes > 0) {
      return exec::lds_allocate<Reductions * lds_bytes>();
    } else {
      return {};
    }
  }
  /// What each thread's own elements of its rows give; reduce_threads combines them.
  template <class F>
  TILEWRIGHT_HD static row_values reduce_own(const part<float>& tile, F f) {
    return reduce_registers<float>(tile, f, sequence<1>{});
  }
  /// The first column in which the thread's own elements of a row equal its value; `none` where there is none.
  TILEWRIGHT_HD static auto first_equal(const part<float>& tile, const row_values& values, index_t first_col,
                                        index_t none) {
    part<index_t> columns;
    const multi_index<2> own = distribution::calculate_index(get_partition_index<distribution>());
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < distribution::num_elements; ++d)
      columns.thread_buffer[d] = first_col + position_in_tile<distribution>(own, d)[1];
    tile_elementwise_inout([&](index_t& column, float x, float value) { column = x == value ? column : none; }, columns,
                           tile, along<0>(values));
    return reduce_registers<index_t>(columns, min, sequence<1>{});
  }
  /// Combines values of the threads that share rows; each use needs lds_bytes of its own.
  template <class T, class F>
  TILEWRIGHT_HD static void reduce_threads(static_distributed_tensor<T, of_rows>& values, F f, exec::lds_pointer lds) {
    reduce_lanes<0>(values, f);
    if constexpr (waves_per_row > 1) {
      T& value = values.thread_buffer[0];
      const unsigned lane = unsigned(exec::lane_id()), wave = unsigned(exec::wave_id()),
                     waves = unsigned(waves_per_row);
      if (lane == 0) exec::lds_store(lds, index_t(wave * 4), value);
      exec::block_sync();
      value = combine_lanes<1, waves_per_row>(
          exec::lds_load<T>(lds, index_t((wave / waves * waves + lane % waves) * 4)), f);
    }
  }
};

}  // namespace detail

}  // namespace tilewright
