// SPDX-License-Identifier: MIT
// Permutation of dimensions of which those that change places are short: tiles of contiguous runs in both tensors.
#pragma once

#include <tilewright/kernels/tensor/detail/permute_runs_plan.hpp>
#include <tilewright/kernels/tensor/detail/permute_tables.hpp>
#include <tilewright/kernels/tensor/map_tensor.hpp>

namespace tilewright {

/// y = x element by element, where short dimensions change places: what is contiguous in x next to the one continues
/// the other in y, so that a tile has long rows in both. Strides must be 1. T: 1, 2, 4 or 8 bytes. Offset: index_t, or
/// long_index_t for tensors of 2 GiB and more. launch_permute chooses it.
template <class Arch, class T, class Offset = index_t>
struct permute_runs {
  using arch = Arch;
  using args_type = map_args<T, T>;
  using device_args = detail::permute_runs_plan<T>;
  /// Threads and LDS of a block: a tile, and tables of at most most_outer offsets.
  static constexpr index_t block_size = 256, blocks_at_once = 5, tile_bytes = device_args::lds_bytes,
                           most_outer = device_args::most_outer,
                           lds_bytes = tile_bytes + 2 * most_outer * index_t(sizeof(Offset));
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  static const char* check(const args_type& args) {
    if (const char* why = detail::check_tensors(args.x, args.y)) return why;
    const device_args prepared = prepare(args, 0);
    if (prepared.p == 0) return "no dimension continues the contiguous ones of both tensors: use permute_unaligned";
    if (const char* why = detail::check_offsets<Offset>(args.x, args.y)) return why;
    if (prepared.tiles() > 0x7fffffff) return "there are more than 2^31 tiles";
    return nullptr;
  }
  static device_args prepare(const args_type& args, const auto&) { return detail::plan_runs<T>(args.x, args.y); }
  /// Whether the dimensions that change places are short, and tiles are not mostly empty.
  static bool is_worth_it(const device_args& args) {
    const index_t most = args.a > 1 && args.d > 1 ? 2560 : 64;
    return args.shorter_row() >= 64 && args.bytes() >= 4096 && args.a * args.d * size <= most;
  }
  static exec::block_index grid(const device_args& args) { return {index_t(args.tiles()), 1, 1}; }

  TILEWRIGHT_HD void operator()(const device_args& args) const {
    detail::overlap_kernels();
    const tile_of_block tile{exec::lds_allocate<lds_bytes>(), args};
    const index_t thread = exec::thread_id();
    for (index_t o = thread; o < tile.outer; o += block_size) {
      const auto at = args.outer.template offsets<Offset>(Offset(tile.first_outer + o));
      exec::lds_store(tile.lds, tile.x_offset(o), Offset(at[0] + tile.first_p * args.d * size + args.x_misaligned()));
      exec::lds_store(tile.lds, tile.y_offset(o), Offset(at[1] + tile.first_p * args.a * size));
    }
    exec::block_sync();
    load(args, tile);
    exec::block_sync();
    for (index_t i = thread; i < tile.outer * args.groups * args.vectors * args.beside; i += block_size) {
      const index_t vectors = args.by_beside.divide(i), above = args.by_vectors.divide(vectors),
                    o = args.by_groups.divide(above);
      store(args, tile, o, vectors - above * args.vectors,
            (above - o * args.groups) * args.beside + i - vectors * args.beside);
    }
  }

 private:
  static constexpr index_t size = device_args::size, vector = device_args::vector;
  using element = typename device_args::element;

  struct tile_of_block {
    exec::lds_pointer lds;
    long_index_t first_outer;
    Offset first_p;
    index_t outer, p;

    TILEWRIGHT_HD tile_of_block(exec::lds_pointer memory, const device_args& args) : lds(memory) {
      const unsigned beside = unsigned(ceil_div(args.p, args.tile_p)), block = unsigned(exec::block_id().x),
                     above = block / beside;
      first_outer = long_index_t{above} * args.tile_outer;
      first_p = Offset(block - above * beside) * args.tile_p;
      outer = index_t(min(args.outer.iterations - first_outer, long_index_t{args.tile_outer}));
      p = min(args.p - index_t(first_p), args.tile_p);
    }
    TILEWRIGHT_HD static index_t x_offset(index_t o) { return tile_bytes + o * index_t(sizeof(Offset)); }
    TILEWRIGHT_HD static index_t y_offset(index_t o) { return x_offset(most_outer + o); }
    /// Bytes from an aligned address in x, and in y, to the tile in iteration o of the outer loops.
    TILEWRIGHT_HD Offset x(index_t o) const { return exec::lds_load<Offset>(lds, x_offset(o)); }
    TILEWRIGHT_HD Offset y(index_t o) const { return exec::lds_load<Offset>(lds, y_offset(o)); }
    /// Where the first element of iteration o is in LDS.
    TILEWRIGHT_HD index_t place(const device_args& args, index_t o) const {
      return o * args.outer_bytes + index_t(x(o) & 15);
    }
  };

  /// Copies the aligned vectors that have a part of the tile to LDS.
  TILEWRIGHT_HD static void load(const device_args& args, const tile_of_block& tile) {
    constexpr index_t at_once = 4;
    const index_t rows = args.x_rows(), vectors = tile.outer * rows * args.slots, bytes = args.x_row_bytes(tile.p);
    for (index_t first = exec::thread_id(); first < vectors; first += at_once * block_size) {
      detail::vectors_to_lds<Arch, element, Offset, at_once> copies{args.x, args.x_bytes, tile.lds};
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < at_once; ++u) {
        const index_t i = first + u * block_size;
        if (i >= vectors) continue;
        const index_t row = args.by_slots.divide(i), slot = i - row * args.slots, o = args.by_rows.divide(row),
                      a = row - o * rows;
        const Offset at = tile.x(o) + a * Offset(args.x_of_a);
        if (slot * 16 < bytes + index_t(at & 15))
          copies.start(u, (at & ~Offset{15}) + slot * 16,
                       ((tile.place(args, o) + args.source_of_a(a)) & ~15) + slot * 16);
      }
      copies.finish();
    }
    detail::wait_for_vectors<Arch>();
  }

  /// Writes vector `number` of rows first, first + beside * groups, ... of y in iteration o.
  TILEWRIGHT_HD static void store(const device_args& args, const tile_of_block& tile, index_t o, index_t number,
                                  index_t first) {
    const exec::global_buffer y = exec::make_global_buffer(args.y, args.y_bytes);
    const index_t elements = tile.p * args.a, of_p = args.d * size, back = of_p - args.source_of_a(args.a);
    index_t places[vector], known = -1;
    TILEWRIGHT_UNROLL(1)
    for (index_t d = first; d < args.d; d += args.beside * args.groups) {
      const Offset of_row = tile.y(o) + d * Offset(args.y_of_d);
      const index_t shift = index_t((args.y_address() + unsigned(of_row)) / unsigned(size) % unsigned(vector)),
                    from = number * vector - shift, lower = max(-from, 0), upper = min(vector, elements - from);
      if (lower >= upper) continue;
      if (shift != known) {
        known = shift;
        const index_t p = args.by_a.divide(from + lower);
        index_t a = from + lower - p * args.a, place = tile.place(args, o) + args.source_of_a(a) + p * of_p;
        TILEWRIGHT_UNROLL_ALL
        for (index_t e = 0; e < vector; ++e) {
          places[e] = place;
          if (e < lower) continue;
          ++a;
          place += args.of_a + (modulo(a, vector) == 0 ? args.pad : 0) + (a == args.a ? back : 0);
          a = a == args.a ? 0 : a;
        }
      }
      detail::store_gathered<element>(y, Offset(of_row + from * size), tile.lds, places, d * size, lower, upper);
    }
  }
};

}  // namespace tilewright
