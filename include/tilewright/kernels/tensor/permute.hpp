// SPDX-License-Identifier: MIT
// Permutation of the dimensions of a tensor: tiles go through LDS, coalesced and without bank conflicts on both sides.
#pragma once

#include <tilewright/kernels/tensor/detail/permute_tile.hpp>
#include <tilewright/kernels/tensor/detail/permuted_tensors.hpp>
#include <tilewright/kernels/tensor/map_tensor.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>

namespace tilewright {

namespace detail {

/// What crosses to the device.
template <class T>
struct permute_device_args : permuted_tensors<T> {
  loop_nest<2> rows, cols;  // offsets in x, offsets in y
};

}  // namespace detail

/// y = x element by element, where the strides of x and y order the dimensions differently
/// (strided_tensor::permuted). Each block moves one tile: as many columns as x is read along, as many rows as y is
/// written along. Columns run over x's dimension of the smallest stride and, where it is short, over more dimensions;
/// rows likewise over y's. T: 1, 2, 4 or 8 bytes. Vector: elements of an access to global memory. Offset:
/// index_t, or long_index_t for tensors of 2 GiB and more. launch_permute chooses both.
template <class Arch, class T, index_t Vector, class Offset = index_t>
struct permute {
  using arch = Arch;
  using args_type = map_args<T, T>;
  static constexpr index_t side = sizeof(T) <= 2 ? 128 : 64;  ///< rows and columns of a tile
  /// how threads move it
  static constexpr detail::permute_tile tile{sizeof(T), Vector, side, side, Arch::value.wave_size};
  static constexpr index_t block_size = 256, blocks_at_once = 4;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;
  /// LDS of a tile; offsets of a table, and the bytes of both tables.
  static constexpr index_t tile_bytes = side * side * sizeof(T), table_entries = side + Vector,
                           table_bytes = 2 * table_entries * sizeof(Offset);
  static constexpr index_t lds_bytes = tile_bytes + 2 * table_bytes;
  static_assert(detail::is_power_of_two(Vector) && Vector * sizeof(T) <= (sizeof(T) == 1 ? 8 : 16),
                "permute: vectors have up to 16 bytes, of elements of one byte up to 8");

  using path = detail::permute_path<Arch, T, tile>;
  using read = typename path::read;
  using turned = typename path::turned;
  using written = typename path::written;
  using layout = typename path::layout;

  using device_args = detail::permute_device_args<T>;
  static const char* check(const args_type& args) {
    if (const char* why = detail::check_tensors(args.x, args.y)) return why;
    const device_args prepared = prepare(args, 0);
    const auto &rows = prepared.rows, &cols = prepared.cols;
    if (rows.loops == 0 || cols.loops == 0) return "both tensors are contiguous along one dimension: use map_tensor";
    if (!fits(args.x, cols, 0) || !fits(args.y, rows, 1))
      return "vectors are moved: pointers must be aligned to them, lengths and strides be multiples; a Vector of 1 "
             "takes any";
    if (const char* why = detail::check_offsets<Offset>(args.x, args.y)) return why;
    if (ceil_div(rows.iterations, long_index_t{side}) * ceil_div(cols.iterations, long_index_t{side}) > 0x7fffffff)
      return "there are more than 2^31 tiles";
    return nullptr;
  }
  static device_args prepare(const args_type& args, const auto&) {
    device_args result{detail::tensors_of(args.x, args.y), {}, {}};
    detail::split_loops(detail::loops_over(args.x, args.y), side, sizeof(T), result.cols, result.rows);
    return result;
  }
  /// Whether tiles are not mostly empty.
  static bool is_worth_it(const device_args& args) { return min(args.rows.iterations, args.cols.iterations) >= 16; }
  /// Whether a tile is full enough for this kernel to be the fastest (measured on an H100).
  static bool has_full_tiles(const device_args& args) {
    return min(args.rows.iterations, args.cols.iterations) >= (sizeof(T) <= 2 ? 48 : 16);
  }
  static exec::block_index grid(const device_args& args) {
    return {index_t(ceil_div(args.rows.iterations, long_index_t{side}) *
                    ceil_div(args.cols.iterations, long_index_t{side})),
            1, 1};
  }

  TILEWRIGHT_HD void operator()(const device_args& args) const {
    detail::overlap_kernels();
    const auto lds = exec::lds_allocate<lds_bytes>();
    const table col_table{lds + tile_bytes, table_entries}, row_table{lds + (tile_bytes + table_bytes), table_entries};
    const unsigned across = unsigned(ceil_div(args.cols.iterations, long_index_t{side}));
    const unsigned block = unsigned(exec::block_id().x);
    fill_table(col_table, args.cols, long_index_t{block % across} * side, exec::thread_id(), outside_cols);
    fill_table(row_table, args.rows, long_index_t{block / across} * side, block_size - 1 - exec::thread_id(),
               outside_rows);
    exec::block_sync();
    const auto offset = [&](index_t tensor, index_t row, index_t col) TILEWRIGHT_INLINE_LAMBDA {
      return table::sum(row_table(tensor, row), col_table(tensor, col));
    };
    using vector = vector_t<T, Vector>;
    const exec::global_buffer x = exec::make_global_buffer(args.x, args.x_bytes);
    const exec::global_buffer y = exec::make_global_buffer(args.y, args.y_bytes);

    static_distributed_tensor<T, turned> columns;
    constexpr detail::permute_tile squares = tile;
    const auto from = read::calculate_index(get_partition_index<read>());
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < read::num_elements; d += Vector) {
      const auto at = detail::position_in_tile<read>(from, d);
      const auto v = exec::buffer_load<vector>(x, offset(0, at[0], at[1]));
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Vector; ++i) columns.thread_buffer[squares.transposed(d + i)] = v[i];
    }
    static_distributed_tensor<T, written> out;
    shuffle_tile(out, columns, lds, layout{});
    const auto to = written::calculate_index(get_partition_index<written>());
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < written::num_elements; d += Vector) {
      const auto at = detail::position_in_tile<written>(to, d);
      vector v;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Vector; ++i) v[i] = out.thread_buffer[d + i];
      exec::buffer_store(y, offset(1, at[1], at[0]), v);
    }
  }

 private:
  using table = detail::permute_table<Offset, Vector>;
  /// Entries of rows and columns that do not exist. No sum with another entry is inside of a tensor.
  static constexpr Offset outside_rows = sizeof(Offset) == 8 ? Offset(-(1ll << 60)) : exec::out_of_bounds_offset;
  static constexpr Offset outside_cols = sizeof(Offset) == 8 ? Offset(-(1ll << 60)) : Offset(0x7fffffff);

  /// Writes entry number `number`: the bytes to iteration first + i. Neighbouring threads write neighbouring entries.
  TILEWRIGHT_HD static void fill_table(const table& to, const detail::loop_nest<2>& loops, long_index_t first,
                                       index_t number, Offset outside) {
    const index_t i = to.index_of(number);
    if (number >= table_entries || i >= side) return;
    const auto at = loops.offsets<Offset>(Offset(min(first + i, loops.iterations - 1)));
    to.set(i, at, first + i < loops.iterations, outside);
  }
  /// Whether vectors along the innermost loop are aligned and contiguous in tensor t.
  template <class U>
  static bool fits(const strided_tensor<U>& tensor, const detail::loop_nest<2>& loops, index_t t) {
    if (Vector == 1) return true;
    if (!detail::is_aligned(tensor.data, Vector * index_t(sizeof(T)))) return false;
    for (index_t d = 0; d < tensor.dims; ++d) {
      if (tensor.lengths[d] > 1 && tensor.strides[d] != 1 && tensor.strides[d] % Vector != 0) return false;
    }
    return loops.strides[0][t] == sizeof(T) && loops.lengths[0] % Vector == 0;
  }
};

}  // namespace tilewright
