// SPDX-License-Identifier: MIT
// Ranges of k tiles for the blocks of a stream-K launch in which no block waits for another.
#pragma once

#include <tilewright/block/schedule/grid_order.hpp>

namespace tilewright {

namespace detail {

/// k tiles of one tile of C that a block computes at once: all of them, or those of one of the tile's peers. The peers'
/// partial sums are in consecutive slots of a workspace; the peer that ends last adds them up.
struct stream_k_segment {
  index_t tile = 0;              ///< Number of the tile of C.
  index_t first = 0, count = 0;  ///< k tiles, from number `first` of the tile's.
  index_t peers = 1;             ///< Blocks that share the tile; 1: this one computes all of it.
  index_t shared_tile = 0;       ///< Number of the tile among those that may be shared.
  index_t slot = 0;              ///< Of this peer's partial sums.
  index_t first_slot = 0;        ///< Of those of the tile's first peer.
};

}  // namespace detail

/// Tiles of C are computed in rounds of one for each of `workers` blocks that run at the same time. The tiles of a last
/// round that is not full are shared: each of `workers` further blocks has an equal range of their k tiles, one tile
/// after the other, and so segments of two tiles at most. Three tiles, two workers, four k tiles:
///
///   block 0   tile 0
///   block 1   tile 1
///   block 2   tile 2, k tiles 0 and 1
///   block 3   tile 2, k tiles 2 and 3
///
/// Blocks are dealt to the dies round-robin; the ranges of one die's blocks follow each other.
struct stream_k_ranges {
  index_t tiles = 1;    ///< Of C. >= 1.
  index_t k_tiles = 1;  ///< Of each. >= 1; tiles * k_tiles is below 2^31.
  index_t workers = 1;  ///< Blocks that run at the same time. >= 1.
  index_t dies = 1;     ///< As in grid_order.

  /// k tiles of all tiles of C, numbered tile by tile.
  struct range {
    index_t begin = 0, end = 0;  ///< From `begin` to before `end`; equal: none.
  };

  /// Tiles that are computed by one block each.
  TILEWRIGHT_HD constexpr index_t whole_tiles() const { return tiles - modulo(tiles, workers); }
  /// Tiles that blocks may share.
  TILEWRIGHT_HD constexpr index_t shared_tiles() const { return modulo(tiles, workers); }
  /// Blocks of the launch; some may have nothing to do.
  TILEWRIGHT_HD constexpr index_t blocks() const { return whole_tiles() + (shared_tiles() > 0 ? workers : 0); }
  /// Slots for partial sums.
  TILEWRIGHT_HD constexpr index_t slots() const { return shared_tiles() > 0 ? workers + shared_tiles() : 0; }

  /// What block b of the launch computes.
  TILEWRIGHT_HD constexpr range of_block(index_t b) const {
    const index_t whole = whole_tiles();
    if (b < whole) {
      const index_t tile = grid_order{.dies = dies}.index_on_curve(b, whole);
      return {tile * k_tiles, (tile + 1) * k_tiles};
    }
    const index_t worker = grid_order{.dies = dies}.index_on_curve(b - whole, workers);
    return {whole * k_tiles + start_of(worker), whole * k_tiles + start_of(worker + 1)};
  }
  /// The first segment of a range that is not empty.
  TILEWRIGHT_HD constexpr detail::stream_k_segment first_segment(const range& r) const {
    const index_t tile = divide(r.begin, k_tiles), begin = tile * k_tiles, shared = tile - whole_tiles();
    detail::stream_k_segment s{.tile = tile, .first = r.begin - begin, .count = min(r.end, begin + k_tiles) - r.begin};
    if (s.count == k_tiles) return s;
    const index_t first_worker = worker_at(shared * k_tiles), last_worker = worker_at((shared + 1) * k_tiles - 1);
    s.peers = last_worker - first_worker + 1;
    s.shared_tile = shared;
    // Each next segment has the next worker, the next tile, or both, so that the sums of their numbers differ.
    s.slot = worker_at(r.begin - whole_tiles() * k_tiles) + shared;
    s.first_slot = first_worker + shared;
    return s;
  }

 private:
  /// The start of a worker's range among the k tiles of shared tiles: the first ones have one more.
  TILEWRIGHT_HD constexpr index_t start_of(index_t worker) const {
    const index_t total = shared_tiles() * k_tiles, each = divide(total, workers);
    return worker * each + min(worker, total - each * workers);
  }
  /// The worker that has k tile number `i` of shared tiles.
  TILEWRIGHT_HD constexpr index_t worker_at(index_t i) const {
    const index_t total = shared_tiles() * k_tiles, each = divide(total, workers), more = total - each * workers;
    return i < more * (each + 1) ? divide(i, each + 1) : more + divide(i - more * (each + 1), each);
  }
};

}  // namespace tilewright
