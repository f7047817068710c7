// SPDX-License-Identifier: MIT
// Permutation of the dimensions of a tensor: tiles go through LDS, in vectors on both sides wherever rows start.
#pragma once

#include <tilewright/kernels/tensor/detail/permute_tables.hpp>
#include <tilewright/kernels/tensor/map_tensor.hpp>

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
  using tables = detail::permute_tables<T, Offset>;
  static constexpr index_t block_size = 256, blocks_at_once = 4, lds_bytes = tables::lds_bytes;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  static const char* check(const args_type& args) {
    if (const char* why = detail::check_tensors(args.x, args.y)) return why;
    const device_args prepared = prepare(args, 0);
    if (prepared.rows.loops == 0 || prepared.cols.loops == 0)
      return "both tensors are contiguous along one dimension: use map_tensor";
    if (prepared.cols.strides[0][0] != 16 || prepared.rows.strides[0][1] != size)
      return "a tensor is not contiguous along any dimension: use map_tensor";
    if (const char* why = detail::check_offsets<Offset>(args.x, args.y)) return why;
    if (prepared.tiles() > 1 << 28) return "there are more than 2^28 tiles";
    return nullptr;
  }
  static device_args prepare(const args_type& args, const auto&) { return detail::plan_permutation<T>(args.x, args.y); }
  /// Whether tiles are not mostly empty.
  static bool is_worth_it(const device_args& args) { return min(args.rows.iterations, args.columns) >= 16; }
  /// Whether tiles have at least half of their columns.
  static bool has_full_tiles(const device_args& args) { return args.columns >= cols / 2; }
  static exec::block_index grid(const device_args& args) { return {index_t(args.tiles()), 1, 1}; }

  TILEWRIGHT_HD void operator()(const device_args& args) const {
    detail::overlap_kernels();
    const tables lds{exec::lds_allocate<lds_bytes>()};
    const detail::permute_position block = args.position(exec::block_id().x);
    const index_t thread = exec::thread_id();
    lds.fill_columns(args, block, thread, block_size);
    lds.fill_rows(args, block, block_size - 1 - thread, block_size);
    exec::block_sync();
    load(args, block, lds);
    exec::block_sync();
    args.run > 0 ? store_runs(args, block, lds) : store(args, block, lds);
  }

 private:
  static constexpr index_t size = device_args::size, vector = tables::vector, slots = tables::slots,
                           rows = tables::tile.rows(), cols = tables::tile.cols(), halo = tables::tile.halo();
  using element = typename device_args::element;

  /// Copies the aligned vectors that have a part of the tile to LDS; those at the ends of x, element by element.
  TILEWRIGHT_HD static void load(const device_args& args, const detail::permute_position& block, const tables& lds) {
    constexpr index_t vectors = tables::rows * slots, at_once = ceil_div(vectors, block_size);
    const index_t thread = exec::thread_id();
    const index_t first = index_t(max(-block.first_row, long_index_t{0})),
                  end = index_t(min(args.rows.iterations - block.first_row, long_index_t{args.own_rows + args.halo}));
    detail::vectors_to_lds<Arch, element, Offset, at_once> copies{args.x, args.x_bytes, lds.lds};
    TILEWRIGHT_UNROLL_ALL
    for (index_t p = 0; p < at_once; ++p) {
      const unsigned i = unsigned(p * block_size + thread);
      const index_t row = index_t(i / unsigned(slots)), slot = index_t(i % unsigned(slots));
      if (row < first || row >= end) continue;
      const Offset of_row = lds.x_rows()[row];
      if (lds.slot_lengths()[slot] + index_t(of_row & 15) > 0)
        copies.start(p, (of_row & ~Offset{15}) + lds.x_slots()[slot], tables::place_of(row) + slot * 16);
    }
    copies.finish();
    detail::wait_for_vectors<Arch>();
  }

  /// Writes vectors of y's rows that are aligned in memory; at the ends of rows, elements.
  TILEWRIGHT_HD static void store(const device_args& args, const detail::permute_position& block, const tables& lds) {
    // A wave has 8 neighbouring vectors of columns that are in different banks. A thread has all columns that are a
    // multiple of 32 bytes apart: where y's columns are one loop, their vectors begin at the same row.
    constexpr index_t apart = max(4 / size, 1), runs = rows / vector / 8, step = max(halo / 4, 8 / runs);
    const index_t thread = exec::thread_id(), columns = args.groups * vector, lane = modulo(thread, 32);
    for (index_t i = divide(thread, 32); i < step * runs; i += block_size / 32) {
      gathered_rows gathered{(modulo(i, runs) * 8 + modulo(lane, 8)) * vector};
      TILEWRIGHT_UNROLL(1)
      for (index_t n = divide(i, runs); n < divide(columns, 4); n += step)
        gathered.store(args, block, lds, divide(n, apart) * (4 * apart) + divide(lane, 8) * apart + modulo(n, apart));
    }
    if (block.first_row + halo + rows < args.rows.iterations) return;  // the next tile has the last rows
    TILEWRIGHT_UNROLL(1)
    for (index_t i = thread; i < 2 * columns; i += block_size)
      gathered_rows{rows + modulo(i, 2) * vector}.store(args, block, lds, divide(i, 2));
  }
  /// Vectors of rows i to i + vector - 1 of the tile's own, or up to halo - 1 rows earlier, where they are aligned.
  struct gathered_rows {
    index_t i, known = -1;  // how much earlier, and of these rows:
    index_t places[vector];

    explicit TILEWRIGHT_HD gathered_rows(index_t first) : i(first) {}
    TILEWRIGHT_HD void store(const device_args& args, const detail::permute_position& block, const tables& lds,
                             index_t col) {
      const Offset of_col = lds.y_cols()[col];
      if (of_col == Offset{exec::out_of_bounds_offset}) return;
      const long_index_t first = block.first_row + halo + i;
      const Offset of_first = of_col + Offset(first) * size;
      const index_t back = index_t((args.y_address() + unsigned(of_first) - unsigned(i * size)) / unsigned(size) %
                                   unsigned(halo));  // rows from a multiple of 32 bytes to the tile's first own one
      const index_t left = index_t(max(min(args.rows.iterations - first, long_index_t{rows}), long_index_t{-rows})),
                    lower = index_t(max(back - first, long_index_t{0})), upper = min(left + back, vector);
      if (lower >= upper) return;
      if (back != known) {
        known = back;
        TILEWRIGHT_UNROLL_ALL
        for (index_t e = 0; e < vector; ++e)
          places[e] = lds.row_offsets()[tables::number_of_position(i + halo - back + e)];
      }
      detail::store_gathered<element>(exec::make_global_buffer(args.y, args.y_bytes), Offset(of_first - back * size),
                                      lds.lds, places, lds.col_offsets()[col], lower, upper);
    }
  };
  /// The same for runs of rows that columns continue in y: vectors may have elements of several columns.
  TILEWRIGHT_HD static void store_runs(const device_args& args, const detail::permute_position& block,
                                       const tables& lds) {
    const exec::global_buffer y = exec::make_global_buffer(args.y, args.y_bytes);
    const index_t columns = index_t(min(long_index_t{args.groups * vector}, args.columns - block.first_group * vector)),
                  elements = columns * args.run, vectors = (elements + 2 * vector - 2) / vector,
                  runs = index_t(min(args.rows.iterations - block.first_row, long_index_t{args.own_rows})) / args.run,
                  of_cols = lds.col_offsets()[0];
    TILEWRIGHT_UNROLL(1)
    for (index_t i = exec::thread_id(); i < runs * vectors; i += block_size) {
      const index_t run = index_t(unsigned(i) / unsigned(vectors));
      const Offset of_run = lds.y_cols()[0] + lds.y_runs()[run];
      const index_t first = (i - run * vectors) * vector -
                            index_t((args.y_address() + unsigned(of_run)) / unsigned(size) % unsigned(vector));
      const index_t lower = max(-first, 0), upper = min(vector, elements - first);
      if (lower >= upper) continue;
      index_t col = index_t(unsigned(first + lower) / unsigned(args.run)), row = first + lower - col * args.run;
      const auto next = [&]() TILEWRIGHT_INLINE_LAMBDA {
        const index_t of_row = lds.row_offsets()[tables::number_of_position(run * args.run + row)];
        const auto x = exec::lds_load<element>(lds.lds, of_row + of_cols + col * size);
        const bool is_last = ++row == args.run;
        col += is_last ? 1 : 0;
        row = is_last ? 0 : row;
        return x;
      };
      const Offset at = of_run + first * size;
      if (upper - lower < vector) {
        TILEWRIGHT_UNROLL(1)
        for (index_t e = lower; e < upper; ++e) exec::buffer_store(y, Offset(at + e * size), next());
        continue;
      }
      array<unsigned, 4> v{};
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < vector; ++e) detail::put_element(v, e, next());
      exec::buffer_store(y, at, v);
    }
  }
};

}  // namespace tilewright
