// SPDX-License-Identifier: MIT
// How a block takes rows of any length: loops over their parts, and reductions along rows.
#pragma once

#include <tilewright/block/rows/detail/own_lds.hpp>
#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/block/rows/row_memory.hpp>

namespace tilewright::detail {

TILEWRIGHT_HD void add_to(auto& tile, const auto& more) {
  tile_elementwise_inout([](float& s, float m) { s += m; }, tile, more);
}
TILEWRIGHT_HD void scale(auto& tile, float factor) {
  tile_elementwise_inout([&](float& x) { x *= factor; }, tile);
}

/// Parts of Tile.cols() columns are tiles.
template <class Arch, row_tile Tile, index_t Access = Tile.vector>
struct row_block : row_memory<Arch, Tile, Access> {
  using memory = row_memory<Arch, Tile, Access>;
  template <class T>
  using segment = typename memory::template segment<T>;
  template <class T>
  using packed_segment = typename memory::template packed_segment<T>;
  using memory::cols, memory::is_single, memory::memory, memory::segment_cols, memory::lanes, memory::waves_per_row;
  /// LDS of one reduction: 4 bytes for each wave, and for each block that shares the row; 0 if it belongs to one wave.
  static constexpr index_t bytes_of_waves = waves_per_row > 1 ? Tile.threads / Arch::value.wave_size * 4 : 0;
  static constexpr index_t lds_bytes = bytes_of_waves + (Tile.blocks > 1 ? Tile.blocks * 4 : 0);

  /// Rows that start at the same element of a vector, whatever the stride.
  static constexpr index_t step = row_step(Tile, Access);

  /// Enough for memory to be busy: blocks wait for their loads, then for each other. As many as LDS keeps parts for.
  static constexpr index_t blocks_at_once =
      max(1, min(ceil_div(Tile.vectors > 4   ? 512
                          : Tile.vectors > 2 ? 768
                          : memory::has_ends ? 1024
                                             : 1536,
                          Tile.threads),
                 Arch::value.lds_bytes / max(Tile.lds_segments * Tile.threads * Tile.vectors * 16, 1)));

  /// The rows of the calling block of the grid, which takes `iterations` times as many as it holds: rows that start at
  /// the same element of a vector.
  template <class T>
  TILEWRIGHT_HD static row_block of_grid(index_t num_rows, index_t num_cols, const T* anchor, long_index_t row_stride,
                                         index_t iterations = 1) {
    overlap_kernels();
    constexpr unsigned side_by_side = unsigned(step / Tile.rows());
    const unsigned block = unsigned(exec::block_id().x) / unsigned(Tile.blocks);
    const unsigned first =
        block / side_by_side * unsigned(step * iterations) + block % side_by_side * unsigned(Tile.rows());
    return row_block(index_t(first), num_rows, num_cols, anchor, row_stride);
  }
  /// Of blocks with this tile and these accesses.
  static constexpr exec::block_index grid(const row_tile& tile, index_t num_rows, index_t iterations = 1,
                                          index_t access = Access) {
    const index_t blocks = iterations == 1 ? ceil_div(num_rows, tile.rows())
                                           : ceil_div(num_rows, row_step(tile, access) * iterations) *
                                                 (row_step(tile, access) / tile.rows());
    return {blocks * tile.blocks, 1, 1};
  }
  /// As many iterations as leave enough blocks for every GPU, up to 8.
  TILEWRIGHT_HD static constexpr index_t iterations_for(index_t num_rows, index_t tile_rows = Tile.rows(),
                                                        index_t threads = Tile.threads) {
    return max(1, min(8, num_rows / (tile_rows * ((1 << 20) / threads))));
  }
  /// Goes on to the rows of the next iteration; false: there are none.
  TILEWRIGHT_HD bool next_rows() {
    this->first_row += step;
    this->rows -= step;
    return this->rows > 0;
  }

  /// f(part, first_col) for each part from the first to the last; `tile` holds the first one already, and holds the
  /// last one afterwards. `load(first_col)` reads a part. Waves skip a last part of which they have nothing.
  template <class Segment, class Load, class F>
  TILEWRIGHT_HD void forward(Segment& tile, Load load, F f) const {
    TILEWRIGHT_UNROLL(1)
    for (index_t first = 0;;) {
      f(tile, first);
      first += segment_cols;
      if (first >= cols) return;
      const index_t wave = modulo(exec::wave_id(), waves_per_row);
      tile = {};
      if (first + wave * Arch::value.wave_size * Tile.vectors * Tile.vector >= cols) return;
      tile = load(first);
    }
  }
  /// Where the last part begins.
  TILEWRIGHT_HD index_t last_segment() const { return (cols - 1) / segment_cols * segment_cols; }
  /// The same from the last part, which `tile` holds already, to the first.
  template <class Segment, class Load, class F>
  TILEWRIGHT_HD void backward(Segment& tile, Load load, F f) const {
    TILEWRIGHT_UNROLL(1)
    for (index_t first = last_segment();;) {
      f(tile, first);
      if (first == 0) return;
      first -= segment_cols;
      tile = load(first);
    }
  }
  /// LDS of the first Tile.lds_segments parts of a row.
  template <class Segment>
  static constexpr index_t cached_bytes = Tile.lds_segments * own_lds<Tile.threads, Segment>::bytes;
  /// Starts to copy these parts, all at once; false: vectors are not aligned, or the row is a single part.
  template <class T>
  TILEWRIGHT_HD bool copy_segments(exec::lds_pointer row_cache, const T* matrix, long_index_t row_stride) const {
    using own = own_lds<Tile.threads, packed_segment<T>>;
    if constexpr (Tile.lds_segments > 0 && sizeof(T) * Access == 16) {
      const auto row = this->own_row(matrix, row_stride);
      if (is_single() || !row.is_aligned()) return false;
      TILEWRIGHT_UNROLL_ALL
      for (index_t p = 0; p < Tile.lds_segments; ++p)
        this->template copy<T>(row, row_cache + p * own::bytes, p * segment_cols);
      if constexpr (memory::has_ends) {
        const unsigned end = row.load_end();
        for (index_t p = 0; p < Tile.lds_segments; ++p) own::store_last(row_cache + p * own::bytes, p == 0 ? end : 0);
      }
      return true;
    }
    return false;
  }
  /// The part that begins at first_col, for the first time: from LDS once copy_parts has brought it, or by
  /// load(first_col), after which LDS keeps it if it is one of these parts; rows of a single part stay in registers.
  template <class Segment, class Load>
  TILEWRIGHT_HD Segment load_first(exec::lds_pointer row_cache, bool is_copied, index_t first_col, Load load) const {
    using own = own_lds<Tile.threads, Segment>;
    const bool is_cached = first_col < Tile.lds_segments * segment_cols && !is_single();
    const auto place = row_cache + first_col / segment_cols * own::bytes;
    if (is_cached && is_copied) {
      unroll<Tile.lds_segments>([&](auto p) TILEWRIGHT_INLINE_LAMBDA {
        constexpr index_t later = (Tile.lds_segments - 1 - decltype(p)::value) * Tile.vectors;
        if (first_col == decltype(p)::value * segment_cols) exec::async_wait<min(later, 63)>();
      });
      return own::load(place);
    }
    const Segment tile = load(first_col);
    if (is_cached) own::store(place, tile);
    return tile;
  }
  /// The part that begins at first_col: from LDS if it is there, else load(first_col).
  template <class Load>
  TILEWRIGHT_HD auto load_again(exec::lds_pointer row_cache, index_t first_col, Load load) const {
    if constexpr (Tile.lds_segments > 0) {
      using own = own_lds<Tile.threads, decltype(load(0))>;
      if (first_col < Tile.lds_segments * segment_cols)
        return own::load(row_cache + first_col / segment_cols * own::bytes);
    }
    return load(first_col);
  }

  /// LDS of `Bytes`. Stores in other blocks that share the row come after start_cluster, and this after the first
  /// loads, which are in flight meanwhile.
  template <index_t Bytes>
  TILEWRIGHT_HD static exec::lds_pointer allocate() {
    if constexpr (Bytes > 0) return exec::lds_allocate<Bytes>();
    return {};
  }
  /// What each thread's own elements of its rows give; reduce_threads combines them.
  template <class F>
  TILEWRIGHT_HD static float reduce_own(const segment<float>& tile, F f) {
    return reduce_registers<float>(tile, f, sequence<1>{}).thread_buffer[0];
  }
  /// Combines values of the threads that share rows: combine(number<n>{}) combines those of n neighbouring lanes, first
  /// of the lanes that share a row, then of lanes for each of its waves, then for each of its blocks. Each use needs
  /// lds_bytes for each value.
  template <class Combine, class... Values>
  TILEWRIGHT_HD static void reduce_levels(exec::lds_pointer lds, Combine combine, Values&... values) {
    combine(number<lanes>{});
    reduce_waves(lds, combine, values...);
  }
  /// The same of values that are those of whole waves.
  template <class Combine, class... Values>
  TILEWRIGHT_HD static void reduce_waves(exec::lds_pointer lds, Combine combine, Values&... values) {
    const unsigned lane = unsigned(exec::lane_id()), wave = unsigned(exec::wave_id()), waves = unsigned(waves_per_row);
    const auto load = [&](index_t place) TILEWRIGHT_INLINE_LAMBDA {
      ((values = exec::lds_load<Values>(lds, place), place += lds_bytes), ...);
    };
    if constexpr (waves_per_row > 1) {
      index_t place = index_t(wave * 4);
      ((lane == 0 ? exec::lds_store(lds, place, values) : void(), place += lds_bytes), ...);
      exec::block_sync();
      load(index_t((wave / waves * waves + lane % waves) * 4));
      combine(number<waves_per_row>{});
    }
    if constexpr (Tile.blocks > 1) {
      index_t place = bytes_of_waves + block_of_row<Tile.blocks>() * 4;
      if (wave == 0 && lane < unsigned(Tile.blocks))
        ((exec::lds_store_in(index_t(lane), lds, place, values), place += lds_bytes), ...);
      exec::cluster_sync_lds();
      load(bytes_of_waves + index_t(lane % unsigned(Tile.blocks)) * 4);
      combine(number<Tile.blocks>{});
    }
  }
  /// The same by f for each of the values.
  template <class F, class... Values>
  TILEWRIGHT_HD static void reduce_threads(F f, exec::lds_pointer lds, Values&... values) {
    const auto combine = [&](auto n) TILEWRIGHT_INLINE_LAMBDA {
      ((values = combine_lanes<1, decltype(n)::value>(values, f)), ...);
    };
    reduce_levels(lds, combine, values...);
  }
};

}  // namespace tilewright::detail
