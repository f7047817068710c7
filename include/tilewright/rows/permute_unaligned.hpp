// SPDX-License-Identifier: MIT
// Permutation of the dimensions of a tensor: tiles go through LDS, in vectors on both sides wherever rows start.
#pragma once

#include <tilewright/exec/gather_bytes.hpp>
#include <tilewright/rows/cut_vectors.hpp>
#include <tilewright/rows/map_tensor.hpp>
#include <tilewright/rows/permute_plan.hpp>
#include <tilewright/tile/shuffle_tile.hpp>

namespace tilewright {

/// y = x element by element, where the strides of x and y order the dimensions differently
/// (strided_tensor::permuted). Each block moves one tile: as many columns as x is read along, as many rows as y is
/// written along. Columns run over x's dimension of the smallest stride and, where it is short, over more dimensions;
/// rows likewise over y's. Both strides must be 1. T: 1, 2, 4 or 8 bytes. Offset: index_t, or long_index_t for tensors
/// of 2 GiB and more. launch_permute chooses it.
template <class Arch, class T, class Offset = index_t>
struct permute_unaligned {
  using arch = Arch;
  using args_type = map_args<T, T>;
  using device_args = detail::permute_plan<T>;
  static constexpr index_t vector = sizeof(T) == 1 ? 8 : 16 / index_t(sizeof(T)), vector_bytes = vector * sizeof(T);
  static constexpr index_t rows = sizeof(T) == 1 ? 256 : sizeof(T) == 8 ? 64 : 128, cols = sizeof(T) <= 2 ? 128 : 64;
  static constexpr detail::permute_tile tile{sizeof(T), vector, rows, cols, Arch::value.wave_size};
  static constexpr index_t block_size = 256, blocks_at_once = 4;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;
  static constexpr index_t tile_bytes = rows * cols * sizeof(T), row_entries = rows + vector,
                           col_entries = cols + vector,
                           lds_bytes = tile_bytes + 2 * (row_entries + col_entries) * sizeof(Offset);

  using path = detail::permute_path<Arch, T, tile>;
  using read = typename path::read;
  using turned = typename path::turned;
  using written = typename path::written;
  using layout = typename path::layout;

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static const char* check(const args_type& args) {
    if (const char* why = detail::check_tensors(args.x, args.y)) return why;
    const device_args prepared = prepare(args, 0);
    if (prepared.rows.loops == 0 || prepared.cols.loops == 0)
      return "both tensors are contiguous along one dimension: use map_tensor";
    if (prepared.cols.strides[0][0] != vector_bytes || prepared.rows.strides[0][1] != sizeof(T))
      return "a tensor is not contiguous along any dimension: use map_tensor";
    if (prepared.x_bytes < 32) return "x has fewer than 32 bytes: use map_tensor";
    if (sizeof(Offset) == 4 && !(detail::is_near(args.x) && detail::is_near(args.y)))
      return "a tensor spans 2 GiB: use an Offset of long_index_t";
    if (prepared.tiles() > 1 << 28) return "there are more than 2^28 tiles";
    return nullptr;
  }
  static device_args prepare(const args_type& args, const auto&) {
    return detail::plan_permutation<T>(args.x, args.y, tile);
  }
  /// Whether tiles have enough elements to take less time than shorter vectors do.
  static bool is_worth_it(const device_args& args) { return args.rows.iterations >= rows / 2 && args.columns >= 16; }
  static exec::block_index grid(const device_args& args) { return {index_t(args.tiles()), 1, 1}; }

  TILEWRIGHT_HD void operator()(const device_args& args) const {
    detail::overlap_kernels();
    const auto lds = exec::lds_allocate<lds_bytes>();
    const table rows_at{lds + tile_bytes, row_entries},
        cols_at{lds + (tile_bytes + 2 * row_entries * index_t(sizeof(Offset))), col_entries};
    const detail::permute_position block = args.position(exec::block_id().x, cols);
    fill(args, block, rows_at, cols_at);
    exec::block_sync();
    const auto view = make_tensor_view<address_space_enum::lds, T>(lds, layout{});
    store_tile(make_tile_window(view, detail::lengths_as_numbers<turned>(), {}, turned{}),
               load(args, rows_at, cols_at));
    exec::block_sync();
    store(args, block, lds, rows_at, cols_at);
  }

 private:
  using words = array<unsigned, vector_bytes / 4>;
  using element =
      detail::conditional_t<sizeof(T) == 8, unsigned long long, detail::unsigned_of<min(index_t(sizeof(T)), 4)>>;
  static constexpr Offset outside = sizeof(Offset) == 8 ? Offset(-(1ll << 60)) : Offset{exec::out_of_bounds_offset};
  /// Entries of rows and columns that do not exist. No sum with another entry is inside of a tensor.
  static constexpr Offset outside_rows = outside, outside_cols = sizeof(Offset) == 8 ? outside : Offset(0x7fff0000);

  using table = detail::permute_table<Offset, vector>;

  TILEWRIGHT_HD static void fill(const device_args& args, const detail::permute_position& block, const table& rows_at,
                                 const table& cols_at) {
    const auto base = args.outer.template offsets<Offset>(Offset(block.outer));
    for (index_t number = exec::thread_id(); number < cols + vector; number += block_size) {
      const index_t i = cols_at.index_of(number);
      const Offset of_vector[1] = {Offset(min(block.first_col / vector + divide(i, vector), args.cols.iterations - 1))};
      array<Offset, 2> at[1];
      index_t innermost[1];
      args.cols.find(of_vector, at, innermost);
      TILEWRIGHT_UNROLL_ALL
      for (index_t t = 0; t < 2; ++t)
        at[0][t] += modulo(i, vector) * Offset(args.cols.strides[0][t] / vector) + base[t];
      const bool exists = block.first_col / vector + divide(i, vector) < args.cols.iterations &&
                          innermost[0] * vector + modulo(i, vector) < args.cols_length;
      if (i < cols) cols_at.set(i, at[0], exists, outside_cols);
    }
    for (index_t number = block_size - 1 - exec::thread_id(); number < rows + vector; number += block_size) {
      const index_t i = rows_at.index_of(number);
      const long_index_t row = args.row_of(block, i);
      if (i < rows)
        rows_at.set(i, args.rows.template offsets<Offset>(Offset(max(row, long_index_t{0}))), row >= 0, outside_rows);
    }
  }

  /// The tile of x, as the threads hold it after they have exchanged rows and columns of their squares.
  TILEWRIGHT_HD static static_distributed_tensor<T, turned> load(const device_args& args, const table& rows_at,
                                                                 const table& cols_at) {
    const auto x = detail::shifted_memory<Offset>::make(args.x, Offset(args.x_bytes));
    constexpr detail::permute_tile squares = tile;
    array<unsigned, read::num_elements * index_t(sizeof(T)) / 4> turned_words;
    const auto from = read::calculate_index(get_partition_index<read>());
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < read::num_elements; d += vector * vector) {
      const auto at = detail::position_in_tile<read>(from, d);
      words square[vector];
      unsigned cut = 0;  // vectors at the start and at the end of the tensor's memory
      const Offset of_col = cols_at(0, at[1]);
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < vector; ++i) {
        const Offset first = table::sum(rows_at(0, at[0] + i), of_col);
        const bool is_whole = x.has(first, vector_bytes);
        square[i] = x.template load<sizeof(T), words::size()>(first, is_whole);
        cut |= unsigned(!is_whole && first >= 0 && first < Offset(args.x_bytes)) << i;
      }
      detail::load_cut_vectors<sizeof(T)>(square, cut, [&](index_t i, index_t e) TILEWRIGHT_INLINE_LAMBDA {
        return x.template load_element<element>(table::sum(rows_at(0, at[0] + i), cols_at(0, at[1] + e)));
      });
      TILEWRIGHT_UNROLL_ALL
      for (index_t j = 0; j < vector; ++j) {
        TILEWRIGHT_UNROLL_ALL
        for (index_t w = 0; w < words::size(); ++w)
          turned_words[squares.transposed(d + j) * index_t(sizeof(T)) / 4 + w] = column_word(square, j, w);
      }
    }
    static_distributed_tensor<T, turned> columns;
    columns.thread_buffer = bit_cast<decltype(columns.thread_buffer)>(turned_words);
    return columns;
  }
  /// Word w of column j of a square.
  TILEWRIGHT_HD static unsigned column_word(const words (&square)[vector], index_t j, index_t w) {
    if constexpr (sizeof(T) == 1) {
      const index_t i = 4 * w, of_row = j / 4;
      return exec::gather_bytes(square[i][of_row], square[i + 1][of_row], square[i + 2][of_row], square[i + 3][of_row],
                                j % 4);
    } else if constexpr (sizeof(T) == 2) {
      return exec::gather_halves(square[2 * w][j / 2], square[2 * w + 1][j / 2], j % 2);
    } else {
      constexpr index_t n = sizeof(T) / 4;
      return square[w / n][j * n + w % n];
    }
  }

  /// Writes vectors of y's rows that are aligned in memory; at the ends of rows, parts of them.
  TILEWRIGHT_HD static void store(const device_args& args, const detail::permute_position& block, exec::lds_pointer lds,
                                  const table& rows_at, const table& cols_at) {
    const exec::global_buffer y = exec::make_global_buffer(args.y, args.y_bytes);
    const auto place = [&](index_t col, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      return layout{}.calculate_offset({col, row}) * index_t(sizeof(T));
    };
    const auto to = written::calculate_index(get_partition_index<written>());
    // A thread has the same rows of all its columns. The next tile has the last ones.
    const index_t i = to[1];
    if (i > rows - vector - args.halo && block.first_row + rows < args.rows.iterations) return;
    const long_index_t first = block.first_row + i + args.halo;
    const index_t ahead = index_t(min(first, long_index_t{rows})),
                  left = index_t(max(min(args.rows.iterations - first, long_index_t{rows}), long_index_t{-rows}));
    const Offset of_tile = rows_at(1, args.halo), of_first = of_tile + i * index_t(sizeof(T));
    const unsigned address = unsigned(reinterpret_cast<unsigned long long>(args.y)) + unsigned(of_tile);
    TILEWRIGHT_UNROLL(2)
    for (index_t d = 0; d < written::num_elements; d += vector) {
      const index_t col = detail::position_in_tile<written>(to, d)[0];
      const Offset of_col = cols_at(1, col);
      const index_t back = index_t((address + unsigned(of_col)) / sizeof(T) & unsigned(args.halo - 1));
      const index_t row = i + args.halo - back, shift = modulo(row, vector);
      const index_t lower = max(back - ahead, 0), upper = min(left + back, vector);
      if (of_col == outside_cols || lower >= upper) continue;
      const auto low = exec::lds_load<words>(lds, place(col, max(row - shift, 0)));
      words high = low;
      if (shift > 0) high = exec::lds_load<words>(lds, place(col, min(row - shift + vector, rows - vector)));
      const words v = exec::shift_bytes<sizeof(T)>(low, high, shift * index_t(sizeof(T)));
      const Offset at = of_col + of_first - back * index_t(sizeof(T));
      if (upper - lower == vector) {
        exec::buffer_store(y, at, v);
      } else {
        detail::store_part<sizeof(T)>(y, at, v, lower, upper);
      }
    }
  }
};

}  // namespace tilewright
