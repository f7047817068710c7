// SPDX-License-Identifier: MIT
// Permutation of the dimensions of a tensor: tiles go through LDS, in vectors on both sides wherever rows start.
#pragma once

#include <tilewright/rows/map_tensor.hpp>
#include <tilewright/rows/permute_tables.hpp>

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

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static const char* check(const args_type& args) {
    if (const char* why = detail::check_tensors(args.x, args.y)) return why;
    const device_args prepared = prepare(args, 0);
    if (prepared.rows.loops == 0 || prepared.cols.loops == 0)
      return "both tensors are contiguous along one dimension: use map_tensor";
    if (prepared.cols.strides[0][0] != 16 || prepared.rows.strides[0][1] != size)
      return "a tensor is not contiguous along any dimension: use map_tensor";
    if (sizeof(Offset) == 4 && !(detail::is_near(args.x) && detail::is_near(args.y)))
      return "a tensor spans 2 GiB: use an Offset of long_index_t";
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
  static constexpr index_t size = sizeof(T), vector = tables::vector, slots = tables::slots, rows = tables::tile.rows(),
                           cols = tables::tile.cols(), halo = tables::tile.halo();
  using words = array<unsigned, 4>;
  using element = detail::conditional_t<size == 8, unsigned long long, detail::unsigned_of<min(size, 4)>>;

  /// Copies the aligned vectors that have a part of the tile to LDS; those at the ends of x, element by element.
  TILEWRIGHT_HD static void load(const device_args& args, const detail::permute_position& block, const tables& lds) {
    constexpr bool is_async = !is_amd(Arch::value);
    constexpr index_t beside = cols / vector, below = block_size / beside, passes = ceil_div(tables::rows, below),
                      all = passes + ceil_div((slots - beside) * tables::rows, block_size);
    const index_t before = args.x_misaligned(), thread = exec::thread_id();
    const exec::global_buffer x =
        exec::make_global_buffer(reinterpret_cast<const char*>(args.x) - before, args.x_bytes + before);
    const index_t first = index_t(max(-block.first_row, long_index_t{0})),
                  end = index_t(min(args.rows.iterations - block.first_row, long_index_t{args.own_rows + args.halo}));
    words loaded[all];
    index_t places[all];
    TILEWRIGHT_UNROLL_ALL
    for (index_t p = 0; p < all; ++p) {
      // Neighbouring threads copy the slots that each row has, then those that rows may have.
      const unsigned other = unsigned((p - passes) * block_size + thread);
      const index_t row = p < passes ? divide(thread, beside) + p * below : index_t(other % unsigned(tables::rows)),
                    slot = p < passes ? modulo(thread, beside) : beside + index_t(other / unsigned(tables::rows));
      places[p] = -1;
      if (row < first || row >= end || slot >= slots) continue;
      const Offset of_row = lds.x_rows()[row];
      if (lds.slot_lengths()[slot] + index_t(of_row & 15) <= 0) continue;
      const Offset at = (of_row & ~Offset{15}) + lds.x_slots()[slot];
      const index_t place = tables::place_of(row) + slot * 16;
      if (at >= before && at <= Offset(x.bytes) - 16) {
        if constexpr (is_async) {
          exec::masked_load_to_lds<16>(exec::make_global_buffer(x.base + at, 16), 0, lds.lds, place, true);
        } else {
          loaded[p] = exec::buffer_load<words>(x, at);
          places[p] = place;
        }
        continue;
      }
      TILEWRIGHT_UNROLL(1)
      for (index_t e = 0; e < 16; e += size) {
        if (at + e >= before && at + e < Offset(x.bytes))
          exec::lds_store(lds.lds, place + e, exec::buffer_load<element>(x, Offset(at + e)));
      }
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t p = 0; p < all && !is_async; ++p) {
      if (places[p] >= 0) exec::lds_store(lds.lds, places[p], loaded[p]);
    }
    lds.fill_places(args, thread, block_size);
    if constexpr (is_async) exec::async_wait();
  }

  /// Writes vectors of y's rows that are aligned in memory; at the ends of rows, elements.
  TILEWRIGHT_HD static void store(const device_args& args, const detail::permute_position& block, const tables& lds) {
    // A wave has 8 neighbouring vectors of columns that are in different banks.
    constexpr index_t apart = max(4 / size, 1), runs = rows / vector / 8;
    const index_t thread = exec::thread_id(), columns = args.groups * vector, lane = modulo(thread, 32);
    TILEWRIGHT_UNROLL(2)
    for (index_t i = divide(thread, 32); i < divide(columns, 4) * runs; i += block_size / 32) {
      const index_t n = divide(i, runs);
      const index_t col = divide(n, apart) * (4 * apart) + divide(lane, 8) * apart + modulo(n, apart);
      store_vector(args, block, lds, (modulo(i, runs) * 8 + modulo(lane, 8)) * vector, col);
    }
    if (block.first_row + halo + rows < args.rows.iterations) return;  // the next tile has the last rows
    TILEWRIGHT_UNROLL(1)
    for (index_t i = thread; i < 2 * columns; i += block_size)
      store_vector(args, block, lds, rows + modulo(i, 2) * vector, divide(i, 2));
  }
  /// The vector of rows i to i + vector - 1 of the tile's own, or up to halo - 1 rows earlier, where it is aligned.
  TILEWRIGHT_HD static void store_vector(const device_args& args, const detail::permute_position& block,
                                         const tables& lds, index_t i, index_t col) {
    const Offset of_col = lds.y_cols()[col];
    if (of_col == Offset{exec::out_of_bounds_offset}) return;
    const long_index_t first = block.first_row + halo + i;
    const Offset of_first = of_col + Offset(first) * size;
    const index_t back = index_t((args.y_address() + unsigned(of_first) - unsigned(i * size)) / unsigned(size) %
                                 unsigned(halo));  // rows from a multiple of 32 bytes to the tile's first own one
    const index_t left = index_t(max(min(args.rows.iterations - first, long_index_t{rows}), long_index_t{-rows})),
                  lower = index_t(max(back - first, long_index_t{0})), upper = min(left + back, vector);
    if (lower >= upper) return;
    const index_t row = i + halo - back, place = tables::place_of(row) + lds.col_places()[col];
    const exec::global_buffer y = exec::make_global_buffer(args.y, args.y_bytes);
    const Offset at = of_first - back * size;
    if (upper - lower < vector) {
      TILEWRIGHT_UNROLL(1)
      for (index_t e = lower; e < upper; ++e) {
        const index_t shift =
            exec::lds_load<unsigned char>(lds.lds, tables::shifts_table::place(tables::shifts_of(row)) + e);
        exec::buffer_store(y, Offset(at + e * size),
                           exec::lds_load<element>(lds.lds, place + e * tables::pitch + shift));
      }
      return;
    }
    const auto shifts = lds.row_shifts()[tables::shifts_of(row)];
    words v{};
    TILEWRIGHT_UNROLL_ALL
    for (index_t e = 0; e < vector; ++e)
      put(v, e, exec::lds_load<element>(lds.lds, place + e * tables::pitch + shifts[e]));
    exec::buffer_store(y, at, v);
  }
  /// The same for runs of rows that columns continue in y: vectors may have elements of several columns.
  TILEWRIGHT_HD static void store_runs(const device_args& args, const detail::permute_position& block,
                                       const tables& lds) {
    const exec::global_buffer y = exec::make_global_buffer(args.y, args.y_bytes);
    const index_t columns = index_t(min(long_index_t{args.groups * vector}, args.columns - block.first_group * vector)),
                  elements = columns * args.run, vectors = (elements + 2 * vector - 2) / vector,
                  runs = index_t(min(args.rows.iterations - block.first_row, long_index_t{args.own_rows})) / args.run,
                  of_cols = lds.col_places()[0];
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
        const index_t of_row = lds.row_places()[run * args.run + row];
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
      words v{};
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < vector; ++e) put(v, e, next());
      exec::buffer_store(y, at, v);
    }
  }
  TILEWRIGHT_HD static void put(words& v, index_t e, element x) {
    if constexpr (size == 8) {
      v[2 * e] = unsigned(x), v[2 * e + 1] = unsigned(x >> 32);
    } else {
      v[e * size / 4] |= unsigned(x) << unsigned(e * size % 4 * 8);
    }
  }
};

}  // namespace tilewright
