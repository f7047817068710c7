// SPDX-License-Identifier: MIT
// Shares tiles of C among persistent blocks: whole tiles while all blocks are busy; the tiles of a last round that
// would leave many idle are split along k (stream-K).
#pragma once

#include <tilewright/gemm/grid_order.hpp>

namespace tilewright {

namespace detail {

/// What a block does at once: k tiles [k_begin, k_end) of a tile of C; nothing if there are none. If `parts` is more
/// than 1, part `part` of the tile; such tiles are numbered by `split_tile`, and the part belongs to `sharer`,
/// the part before it to sharer - 1.
struct work_unit {
  tile_position tile = {};
  index_t k_begin = 0, k_end = 0;
  index_t part = 0, parts = 1, split_tile = -1, sharer = -1;

  TILEWRIGHT_HD constexpr bool is_empty() const { return k_begin == k_end; }
  /// Whether this unit adds up the parts of its tile and writes the result.
  TILEWRIGHT_HD constexpr bool is_last_part() const { return part + 1 == parts; }
  /// Coordinates of its boxes: the last ones of A, B and C, the first along k, and the first row.
  TILEWRIGHT_HD constexpr index_t a_z() const { return tile.batch; }
  TILEWRIGHT_HD constexpr index_t b_z() const { return tile.batch; }
  TILEWRIGHT_HD constexpr index_t c_z() const { return tile.batch; }
  TILEWRIGHT_HD constexpr index_t first_k() const { return 0; }
  TILEWRIGHT_HD constexpr index_t first_row() const { return 0; }
  /// Whether any of the rows from m on is to be computed.
  TILEWRIGHT_HD constexpr bool has_rows(index_t) const { return true; }
  friend constexpr bool operator==(const work_unit&, const work_unit&) = default;
};

}  // namespace detail

/// Unit u goes to worker u % workers, in ascending order. The last part of a tile adds up all; it waits for parts of
/// workers with lower numbers only, and no worker has two others. It is longer than an equal share by about the time
/// that it would wait.
struct work_schedule {
  detail::tile_order order;
  index_t k_tiles;
  index_t workers;
  index_t whole_tiles;  // that are not split: whole rounds, or all
  index_t sharers;      // workers that share the others: a multiple of their number, or all; 0 if there are none
  index_t longer_by;    // k tiles that a last part has more than its share
  index_t parts = 1;    // of every tile, where a kernel that follows adds them up

  TILEWRIGHT_HD constexpr index_t num_split_tiles() const { return order.num_tiles() - whole_tiles; }
  /// Whether some workers have the end of a tile and the beginning of the next one.
  TILEWRIGHT_HD constexpr bool shares_cross_tiles() const {
    return sharers > 0 && modulo(sharers, num_split_tiles()) != 0;
  }
  TILEWRIGHT_HD constexpr index_t max_parts() const {
    if (sharers == 0) return 1;
    return divide(sharers, num_split_tiles()) + (shares_cross_tiles() ? 2 : 0);
  }
  TILEWRIGHT_HD constexpr index_t num_units() const {
    return whole_tiles * parts + (shares_cross_tiles() ? 2 * workers : sharers);
  }

  TILEWRIGHT_HD constexpr detail::work_unit operator()(index_t u) const {
    detail::work_unit unit = without_place(u);
    unit.tile = order(tile_of(u, unit));
    return unit;
  }
  /// Unit u, but not where its tile is; and the number of its tile.
  TILEWRIGHT_HD constexpr detail::work_unit without_place(index_t u) const {
    if (parts > 1) return part_of_every_tile(divide(u, whole_tiles));
    return u < whole_tiles ? detail::work_unit{.k_end = k_tiles} : split_unit(u - whole_tiles);
  }
  TILEWRIGHT_HD constexpr index_t tile_of(index_t u, const detail::work_unit& unit) const {
    if (parts > 1) return u - unit.part * whole_tiles;
    return u < whole_tiles ? u : whole_tiles + unit.split_tile;
  }

 private:
  /// Not its last part, which is the other kernel's.
  TILEWRIGHT_HD constexpr detail::work_unit part_of_every_tile(index_t part) const {
    const index_t each = divide(k_tiles, parts), more = k_tiles - each * parts, begin = part * each + min(part, more);
    return {.k_begin = begin, .k_end = begin + each + (part < more ? 1 : 0), .part = part, .parts = parts + 1};
  }
  /// The unit after the whole tiles; its tile of C is not set.
  TILEWRIGHT_HD constexpr detail::work_unit split_unit(index_t u) const {
    const bool second = u >= workers;
    const index_t sharer = second ? u - workers : u, shared = k_tiles - longer_by;
    const index_t total = shared * num_split_tiles();
    index_t begin = divide(total * sharer, sharers), end = divide(total * (sharer + 1), sharers);
    // First the beginning of a tile, which others wait for, then the end of the tile before it.
    const index_t split_tile = divide(second ? begin : end - 1, shared), first = split_tile * shared;
    if (second)
      end = begin > first && end > first + shared ? first + shared : begin;
    else
      begin = max(begin, first);
    const auto sharer_of = [&](index_t k) { return divide((k + 1) * sharers - 1, total); };
    const index_t first_sharer = sharer_of(first), last_sharer = sharer_of(first + shared - 1);
    return {{},
            begin - first,
            end - first + (end == first + shared ? longer_by : 0),
            sharer - first_sharer,
            last_sharer - first_sharer + 1,
            split_tile,
            sharer};
  }
};

namespace detail {

/// What splitting tiles costs, in any one unit: a k tile, the wait until others see what a block has written, adding up
/// one part, and going from one tile to another in the last round.
struct split_cost {
  index_t k_tile = 1, wait = 4, read = 2, change = 4;
};

/// A schedule for `workers` workers, which finishes soonest by these costs;
/// with at most `max_sharers` parts to be kept in memory.
TILEWRIGHT_HD constexpr work_schedule make_work_schedule(const tile_order& order, index_t k_tiles, index_t workers,
                                                         index_t max_sharers, split_cost cost = {}) {
  const index_t tiles = order.num_tiles(), left = modulo(tiles, workers),
                longer_by = divide(cost.wait + cost.k_tile / 2, cost.k_tile), shared = k_tiles - longer_by;
  work_schedule best{order, k_tiles, workers, tiles, 0, 0};
  if (left == 0) return best;
  long_index_t best_time = long_index_t(k_tiles) * cost.k_tile;
  const auto consider = [&](index_t sharers) {
    const long_index_t to_share = long_index_t(left) * shared;
    if (sharers > min(workers, max_sharers) || sharers > to_share) return;
    if (to_share * sharers > 0x7fffffff) return;  // k is so long that the schedule's numbers would not fit
    const work_schedule s{order, k_tiles, workers, tiles - left, sharers, longer_by};
    const long_index_t share = ceil_div(index_t(to_share), sharers);
    const long_index_t time =
        share * cost.k_tile + cost.wait + cost.read * (s.max_parts() - 1) + (s.shares_cross_tiles() ? cost.change : 0);
    if (time >= best_time) return;
    best = s;
    best_time = time;
  };
  for (index_t parts = 2; left * parts <= workers; ++parts) consider(left * parts);
  consider(workers);
  return best;
}

}  // namespace detail

}  // namespace tilewright
