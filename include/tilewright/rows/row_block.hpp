// SPDX-License-Identifier: MIT
// How a block takes rows of any length: loops over their parts, and reductions along rows.
#pragma once

#include <tilewright/rows/own_lds.hpp>
#include <tilewright/rows/row_cluster.hpp>
#include <tilewright/rows/row_memory.hpp>

namespace tilewright::detail {

TILEWRIGHT_HD void add_to(auto& sums, const auto& more) {
  tile_elementwise_inout([](float& s, float m) { s += m; }, sums, more);
}

/// Parts of Tile.cols() columns are tiles.
template <class Arch, row_tile Tile>
struct row_block : row_memory<Arch, Tile> {
  using memory = row_memory<Arch, Tile>;
  using typename memory::row_values;
  template <class T>
  using part = typename memory::template part<T>;
  using memory::cols, memory::is_single, memory::memory, memory::part_cols;
  static constexpr index_t lanes_per_row = min(Tile.threads_per_row, Arch::value.wave_size);
  static constexpr index_t waves_per_row = ceil_div(Tile.threads_per_row, Arch::value.wave_size);
  /// LDS of one reduction: 4 bytes for each wave, and for each block that shares the row; 0 if it belongs to one wave.
  static constexpr index_t bytes_of_waves = waves_per_row > 1 ? Tile.threads / Arch::value.wave_size * 4 : 0;
  static constexpr index_t lds_bytes = bytes_of_waves + (Tile.blocks > 1 ? Tile.blocks * 4 : 0);

  /// Enough for memory to be busy: blocks wait for their loads, then for each other. As many as LDS keeps parts for.
  static constexpr index_t blocks_at_once =
      max(1, min(Tile.vectors > 2 ? ceil_div(768, Tile.threads) : 1536 / Tile.threads,
                 Arch::value.lds_bytes / max(Tile.lds_parts * Tile.threads * Tile.vectors * 16, 1)));

  /// The rows of the calling block of the grid.
  template <class T>
  TILEWRIGHT_HD static row_block of_grid(index_t num_rows, index_t num_cols, const T* anchor, long_index_t row_stride) {
    overlap_kernels();
    const index_t first = index_t(unsigned(exec::block_id().x) / unsigned(Tile.blocks)) * Tile.rows();
    return row_block(first, num_rows, num_cols, anchor, row_stride);
  }
  static constexpr exec::block_index grid(index_t num_rows) {
    return {ceil_div(num_rows, Tile.rows()) * Tile.blocks, 1, 1};
  }

  /// f(part, first_col) for each part from the first to the last; `tile` holds the first one already, and holds the
  /// last one afterwards. `load(first_col)` reads a part. Waves skip a last part of which they have nothing.
  template <class Part, class Load, class F>
  TILEWRIGHT_HD void forward(Part& tile, Load load, F f) const {
    TILEWRIGHT_UNROLL(1)
    for (index_t first = 0;;) {
      keep_packed(tile);
      f(tile, first);
      first += part_cols;
      if (first >= cols) return;
      const index_t wave = modulo(exec::wave_id(), waves_per_row);
      tile = {};
      if (first + wave * Arch::value.wave_size * Tile.vectors * Tile.vector >= cols) return;
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
      keep_packed(tile);
      f(tile, first);
      if (first == 0) return;
      first -= part_cols;
      tile = load(first);
    }
  }
  /// A loop carries elements of less than 4 bytes together, not each in a register of its own.
  template <class Part>
  TILEWRIGHT_HD static void keep_packed(Part& tile) {
    if constexpr (requires { requires sizeof(typename Part::element_type) < 4 && Part::num_elements % 4 == 0; }) {
      auto words =
          memory::template as<array<index_t, Part::num_elements * index_t(sizeof(typename Part::element_type)) / 4>>(
              tile);
      TILEWRIGHT_UNROLL_ALL
      for (index_t& word : words.elements) word = exec::forget_origin(word);
      tile = memory::template as<Part>(words);
    }
  }
  /// LDS of the first Tile.lds_parts parts of a row.
  template <class Part>
  static constexpr index_t kept_bytes = Tile.lds_parts * own_lds<Tile.threads, Part>::bytes;
  /// Writes a part to LDS if it is one of these; rows of a single part stay in registers.
  template <class Part>
  TILEWRIGHT_HD void keep(exec::lds_pointer kept, const Part& tile, index_t first_col) const {
    if constexpr (Tile.lds_parts > 0) {
      using own = own_lds<Tile.threads, Part>;
      if (first_col < Tile.lds_parts * part_cols && !is_single())
        own::store(kept + first_col / part_cols * own::bytes, tile);
    }
  }
  /// The part that begins at first_col: from LDS if keep() wrote it, else load(first_col).
  template <class Load>
  TILEWRIGHT_HD auto load_again(exec::lds_pointer kept, index_t first_col, Load load) const {
    if constexpr (Tile.lds_parts > 0) {
      using own = own_lds<Tile.threads, decltype(load(0))>;
      if (first_col < Tile.lds_parts * part_cols) return own::load(kept + first_col / part_cols * own::bytes);
    }
    return load(first_col);
  }

  /// LDS of `Bytes`; then the blocks that share a row have all started. After the first loads, which are in
  /// flight meanwhile.
  template <index_t Bytes>
  TILEWRIGHT_HD static exec::lds_pointer allocate() {
    if constexpr (Bytes > 0) {
      const auto lds = exec::lds_allocate<Bytes>();
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
    const unsigned lane = unsigned(exec::lane_id()), wave = unsigned(exec::wave_id()), waves = unsigned(waves_per_row);
    const auto load = [&](index_t place) TILEWRIGHT_INLINE_LAMBDA {
      ((values.thread_buffer[0] = exec::lds_load<remove_cvref_t<decltype(values.thread_buffer[0])>>(lds, place),
        place += lds_bytes),
       ...);
    };
    if constexpr (waves_per_row > 1) {
      index_t place = index_t(wave * 4);
      ((lane == 0 ? exec::lds_store(lds, place, values.thread_buffer[0]) : void(), place += lds_bytes), ...);
      exec::block_sync();
      load(index_t((wave / waves * waves + lane % waves) * 4));
      combine(number<waves_per_row>{});
    }
    if constexpr (Tile.blocks > 1) {
      index_t place = bytes_of_waves + block_of_row<Tile.blocks>() * 4;
      if (wave == 0 && lane < unsigned(Tile.blocks))
        ((exec::lds_store_in(index_t(lane), lds, place, values.thread_buffer[0]), place += lds_bytes), ...);
      exec::cluster_sync_lds();
      load(bytes_of_waves + index_t(lane % unsigned(Tile.blocks)) * 4);
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

}  // namespace tilewright::detail
