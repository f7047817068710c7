// SPDX-License-Identifier: MIT
// Distributions for coalesced copies of a tile, by name: 16-byte vectors, neighbouring lanes at neighbouring addresses.
#pragma once

#include <tilewright/core/distribution/distribution_pattern.hpp>

#if !TILEWRIGHT_CPU_PASS
#include <tilewright/core/arch/current.hpp>
#endif

namespace tilewright {

namespace detail {

#if TILEWRIGHT_CPU_PASS
inline constexpr index_t default_wave_size = 64;
#else
inline constexpr index_t default_wave_size = arch::current::value.wave_size;
#endif

/// The copy of a tile of `rows` contiguous rows, with T's vectors of 16 bytes.
template <index_t Rows, index_t Cols, class T, index_t Threads, index_t WaveSize>
TILEWRIGHT_HD constexpr tile_copy_2d coalesced_copy() {
  return {Rows, Cols, 16 / index_t(sizeof(T)), Threads / WaveSize, WaveSize};
}

template <index_t Rows, index_t Cols, class T, index_t Threads, index_t WaveSize>
TILEWRIGHT_HD constexpr bool require_copy() {
  using enum pattern_fault;
  static_assert(
      Rows > 0 && Cols > 0 && Threads > 0 && WaveSize > 0 && Threads % WaveSize == 0,
      "make_copy_distribution: lengths and threads must be positive, and threads a multiple of the wave size");
  static_assert(sizeof(T) <= 16 && 16 % sizeof(T) == 0, "make_copy_distribution: elements have 1, 2, 4, 8 or 16 bytes");
  constexpr pattern_fault fault = divide_copy(coalesced_copy<Rows, Cols, T, Threads, WaveSize>()).fault;
  static_assert(fault != vector,
                "make_copy_distribution: the contiguous length must be a multiple of the vector (16 bytes)");
  static_assert(fault != rows,
                "make_copy_distribution: the other length must be a multiple of what all threads cover at once: their "
                "vectors over those of the contiguous length");
  return fault == none;
}

}  // namespace detail

/// Distribution of a tile of Rows x Cols elements of T over a block of Threads, for tensors with contiguous rows: each
/// thread holds 16-byte vectors of a row (shorter only if the tile has fewer elements than that), as many lanes
/// as divide the vectors of a row follow it (8 where it has 72), the others the next rows; what one access of the whole
/// block does not cover follows below. WaveSize is that of the target; on the CPU, which emulates any target, say it if
/// it is not 64.
template <index_t Rows, index_t Cols, class T, index_t Threads, index_t WaveSize = detail::default_wave_size>
TILEWRIGHT_HD constexpr auto make_copy_distribution() {
  if constexpr (detail::require_copy<Rows, Cols, T, Threads, WaveSize>()) {
    return tile_distribution<make_pattern_encoding(tile_distribution_pattern::block_raked,
                                                   detail::coalesced_copy<Rows, Cols, T, Threads, WaveSize>())>{};
  }
}

/// The same for tensors with contiguous columns: vectors and lanes follow the column.
template <index_t Rows, index_t Cols, class T, index_t Threads, index_t WaveSize = detail::default_wave_size>
TILEWRIGHT_HD constexpr auto make_column_copy_distribution() {
  if constexpr (detail::require_copy<Cols, Rows, T, Threads, WaveSize>()) {
    constexpr distribution_encoding encoding = [] {
      distribution_encoding e = make_pattern_encoding(tile_distribution_pattern::block_raked,
                                                      detail::coalesced_copy<Cols, Rows, T, Threads, WaveSize>());
      const auto columns = e.h[0];
      e.h[0] = e.h[1];
      e.h[1] = columns;
      const auto exchange = [](auto& ids) {
        for (rh_id& id : ids) id.major = static_cast<signed char>(3 - id.major);
      };
      for (auto& ids : e.p) exchange(ids);
      exchange(e.y);
      return e;
    }();
    return tile_distribution<encoding>{};
  }
}

/// Distribution of a tile whose rows are each spread over the whole block: vectors of 16 bytes, then lanes, then waves
/// follow the row. A reduction along it goes through LDS (reduce_lds_bytes) unless the block is one wave.
template <index_t Rows, index_t Cols, class T, index_t Threads, index_t WaveSize = detail::default_wave_size>
TILEWRIGHT_HD constexpr auto make_row_distribution() {
  constexpr index_t vector = 16 / sizeof(T), waves = Threads / WaveSize;
  constexpr bool divides = Rows > 0 && waves * WaveSize == Threads && Cols > 0 && Cols % (Threads * vector) == 0;
  static_assert(
      divides,
      "make_row_distribution: a row must be a multiple of the block's vectors, threads x 16 bytes (shorter rows: "
      "make_copy_distribution), and the block a multiple of the wave");
  if constexpr (divides) {
    constexpr distribution_encoding encoding = tile_distribution_encoding<
        sequence<>, tuple<sequence<Rows>, sequence<Cols / (Threads * vector), waves, WaveSize, vector>>,
        tuple<sequence<2>, sequence<2>>, tuple<sequence<1>, sequence<2>>, sequence<1, 2, 2>, sequence<0, 0, 3>>::value;
    return tile_distribution<encoding>{};
  }
}

}  // namespace tilewright
