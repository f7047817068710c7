// SPDX-License-Identifier: MIT
// The part of a matrix of rows that a block holds in registers, and the distribution of its elements.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

namespace tilewright {

/// The part of a matrix that a block holds in registers: threads / threads_per_row rows of threads_per_row *
/// vectors * vector columns. Longer rows are read part by part.
struct row_tile {
  /// Threads of the block and of a row; vectors of a thread, and elements of a vector.
  index_t threads = 256, threads_per_row = 32, vectors = 4, vector = 8;
  index_t blocks =
      1;  ///< of a cluster that share a row, each with tile.cols() columns or several times as many (Hopper)
  bool unaligned = false;    ///< rows start at any element, and have any length
  index_t lds_segments = 0;  ///< parts of a row that LDS keeps, instead of reading them again

  /// Rows of the block.
  TILEWRIGHT_HD constexpr index_t rows() const { return threads / threads_per_row; }
  /// Columns that the registers of a row's threads hold.
  TILEWRIGHT_HD constexpr index_t cols() const { return threads_per_row * vectors * vector; }
  /// The longest row that is read once.
  TILEWRIGHT_HD constexpr index_t most_cols() const {
    return cols() * (1 + lds_segments) * blocks + (unaligned ? 2 * vector : 0);
  }
  friend constexpr bool operator==(const row_tile&, const row_tile&) = default;
};

/// A good row_tile for rows of about `cols` elements: a thread holds up to 4 vectors, up to 1024 threads share a row.
/// `vector`: elements of an access; 16 bytes, or 1 for lengths and strides that are no multiples.
TILEWRIGHT_HD constexpr row_tile choose_row_tile(index_t cols, index_t vector) {
  row_tile tile{.threads = 256, .threads_per_row = 4, .vectors = vector == 1 ? 8 : 4, .vector = vector};
  while (tile.threads_per_row < 1024 && tile.cols() < cols) tile.threads_per_row *= 2;
  tile.threads = max(256, tile.threads_per_row);
  while (tile.vectors > 1 && cols <= tile.cols() - tile.threads_per_row * tile.vector) --tile.vectors;
  return tile;
}

/// The same for 16-byte aligned rows on a target, with one read: LDS keeps what the registers of `most_threads` do not
/// hold, as long as two blocks fit; on Hopper the blocks of a cluster share the longest rows.
TILEWRIGHT_HD constexpr row_tile choose_row_tile(const arch::target& on, index_t element_bytes, index_t cols,
                                                 index_t most_threads) {
  const index_t vector = 16 / element_bytes;
  row_tile tile = choose_row_tile(min(cols, most_threads * 4 * vector), vector);
  const index_t bytes = tile.threads * tile.vectors * 16, max_segments = (on.lds_bytes / 2 - 512) / bytes;
  while (tile.most_cols() < cols) {
    if (tile.lds_segments < max_segments) {
      ++tile.lds_segments;
    } else if (2 * tile.blocks <= on.max_cluster) {
      tile.blocks *= 2;
    } else {
      break;
    }
  }
  return tile;
}
template <class Arch, class T>
TILEWRIGHT_HD constexpr row_tile choose_row_tile(index_t cols, index_t most_threads = 512) {
  return choose_row_tile(Arch::value, sizeof(T), cols, most_threads);
}

/// The same for rows that start anywhere. A thread holds up to six vectors: what is done once for each row counts.
/// Where several waves share a row, blocks are small: all waves of a block wait for each other.
TILEWRIGHT_HD constexpr row_tile choose_unaligned_tile(const arch::target& on, index_t element_bytes, index_t cols,
                                                       index_t most_vectors) {
  const index_t vector = 16 / element_bytes;
  row_tile tile{.threads_per_row = max(32, 4 * vector), .vectors = most_vectors, .vector = vector, .unaligned = true};
  while (tile.threads_per_row < tile.threads && tile.most_cols() < cols) tile.threads_per_row *= 2;
  if (tile.threads_per_row > on.wave_size) tile.threads = max(128, tile.threads_per_row);
  for (;; tile.blocks *= 2) {
    const index_t most = ceil_div(max(cols - 2 * tile.vector, 1), tile.blocks * tile.threads_per_row * tile.vector);
    tile.vectors = min(most, most_vectors);
    for (index_t vectors = most_vectors - 1; vectors > 3 && most > most_vectors; --vectors)
      if (detail::round_up(most, vectors) < detail::round_up(most, tile.vectors)) tile.vectors = vectors;
    const index_t bytes_of_segment = tile.threads * (tile.vectors * 16 + 4);
    tile.lds_segments = min(ceil_div(most, tile.vectors) - 1, (on.lds_bytes / 2 - 1024) / bytes_of_segment);
    if (tile.most_cols() >= cols || 2 * tile.blocks > on.max_cluster) return tile;
  }
}
template <class Arch, class T>
TILEWRIGHT_HD constexpr row_tile choose_unaligned_tile(index_t cols, index_t most_vectors = 6) {
  return choose_unaligned_tile(Arch::value, sizeof(T), cols, most_vectors);
}

namespace detail {

/// Rows of a tile that start at the same element of a vector, whatever the stride. `access`: elements of an access.
TILEWRIGHT_HD constexpr index_t row_step(const row_tile& tile, index_t access) {
  return tile.unaligned && access > 1 ? max(tile.rows(), tile.vector) : tile.rows();
}

/// Each thread holds `Elements` of its row.
template <row_tile Tile, index_t Wave, index_t Elements>
inline constexpr distribution_encoding row_tile_encoding =
    tile_distribution_encoding<sequence<>, tuple<sequence<Tile.threads / Wave, Wave>, sequence<Elements>>,
                               tuple<sequence<1>, sequence<1>>, tuple<sequence<0>, sequence<1>>, sequence<2>,
                               sequence<0>>::value;

/// Whether waves and lanes divide the tile, with an error message for each rule.
template <class Arch, row_tile Tile>
TILEWRIGHT_HD constexpr bool require_row_tile() {
  constexpr index_t wave = Arch::value.wave_size;
  static_assert(Tile.threads % wave == 0 && Tile.threads <= 1024,
                "row_tile: a block has whole waves and at most 1024 threads");
  static_assert(is_power_of_two(Tile.threads_per_row) && Tile.threads % Tile.threads_per_row == 0,
                "row_tile: threads_per_row is a power of two that divides the threads");
  static_assert(Tile.blocks == 1 || (is_power_of_two(Tile.blocks) && Tile.blocks <= Arch::value.max_cluster),
                "row_tile: blocks that share a row form a cluster: a power of two, as many as the target has");
  static_assert(Tile.blocks == 1 || Tile.rows() == 1,
                "row_tile: blocks that share a row have one row: threads == threads_per_row");
  static_assert(Tile.vectors > 0 && is_power_of_two(Tile.vector) && Tile.vector <= 16,
                "row_tile: a thread holds at least one vector, of up to 16 elements");
  static_assert(!Tile.unaligned || Tile.threads_per_row >= 4 * Tile.vector,
                "row_tile: unaligned rows need 4 * vector threads each, one for each element at their ends");
  return true;
}

}  // namespace detail

}  // namespace tilewright
