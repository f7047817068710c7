// SPDX-License-Identifier: MIT
// Shares tiles of C among blocks that stay: whole tiles as long as all blocks are busy, parts of tiles (split along k) in a last
// round that would leave many idle.
#pragma once

#include <tilewright/gemm/tile_order.hpp>

namespace tilewright {

/// What a block does at once: k tiles [k_begin, k_end) of a tile of C. If `parts` is more than 1, part `part` of the tile; such tiles
/// are numbered by `split_tile`.
struct work_unit {
  tile_position tile;
  index_t k_begin, k_end;
  index_t part, parts, split_tile;

  /// Of those units of a tile that add up, the one that writes it.
  TILEWRIGHT_HD constexpr bool is_last_part() const { return part + 1 == parts; }
  friend constexpr bool operator==(const work_unit&, const work_unit&) = default;
};

/// Unit u goes to worker u % workers, in ascending order. The last part of a tile adds up all; it waits for units with lower
/// numbers only. It is longer than the others by about the time that it would wait.
struct work_schedule {
  tile_order order;
  index_t k_tiles;
  index_t whole_tiles;  // that are not split: whole rounds, or all
  index_t parts;        // of each of the others
  index_t longer_by;    // k tiles that the last part has more than the others

  TILEWRIGHT_HD constexpr index_t num_split_tiles() const { return order.num_tiles() - whole_tiles; }
  TILEWRIGHT_HD constexpr index_t num_units() const { return whole_tiles + num_split_tiles() * parts; }

  TILEWRIGHT_HD constexpr work_unit operator()(index_t u) const {
    if (u < whole_tiles) return {order(u), 0, k_tiles, 0, 1, -1};
    const index_t split_tile = divide(u - whole_tiles, parts), part = modulo(u - whole_tiles, parts);
    const auto begin = [&](index_t p) { return index_t(long_index_t(p) * (k_tiles - longer_by) / parts); };
    return {order(whole_tiles + split_tile),
            begin(part),
            part + 1 < parts ? begin(part + 1) : k_tiles,
            part,
            parts,
            split_tile};
  }
};

/// What it costs to split tiles, in the time of a k tile: until others see what a block has written, and to add up one part.
struct split_cost {
  index_t wait = 6, read = 2;
};

/// A schedule for `workers` workers, which finishes soonest by these costs; with at most `max_parts` parts to be kept in memory.
TILEWRIGHT_HD constexpr work_schedule make_work_schedule(const tile_order& order, index_t k_tiles, index_t workers,
                                                         index_t max_parts, split_cost cost = {}) {
  const index_t tiles = order.num_tiles(), left = modulo(tiles, workers);
  work_schedule best{order, k_tiles, tiles, 1, 0};
  if (left == 0) return best;
  index_t best_time = k_tiles;
  for (index_t parts = 2; parts <= 8 && parts + cost.wait <= k_tiles && left * (parts - 1) <= max_parts; ++parts) {
    const index_t rounds = ceil_div(left * parts, workers);
    const index_t time = rounds * ceil_div(k_tiles - cost.wait, parts) + cost.wait + cost.read * (parts - 1);
    if (rounds <= 2 && time < best_time) {
      best = {order, k_tiles, tiles - left, parts, cost.wait};
      best_time = time;
    }
  }
  return best;
}

}  // namespace tilewright
