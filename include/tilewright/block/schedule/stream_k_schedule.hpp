// SPDX-License-Identifier: MIT
// Shares tiles of C among persistent blocks: whole tiles while all blocks are busy; the tiles of a last round that
// would leave many idle are split along k (stream-K).
#pragma once

#include <tilewright/block/schedule/grid_order.hpp>

namespace tilewright {

namespace detail {

/// What a block does at once: k tiles [k_begin, k_end) of a tile of C; nothing if there are none. If `parts` is more
/// than 1, part `part` of the tile; such tiles are numbered by `split_tile`. Memory has a slot for each part that is
/// not the last, those of a tile side by side.
struct work_tile {
  tile_coord tile = {};
  index_t k_begin = 0, k_end = 0;
  index_t part = 0, parts = 1, split_tile = -1, slot = -1;

  TILEWRIGHT_HD constexpr bool is_empty() const { return k_begin == k_end; }
  /// Whether this unit adds up the parts of its tile and writes the result.
  TILEWRIGHT_HD constexpr bool is_last_split() const { return part + 1 == parts; }
  /// Coordinates of its boxes: the last ones of A, B and C, the first along k, and the first row.
  TILEWRIGHT_HD constexpr index_t a_z() const { return tile.batch; }
  TILEWRIGHT_HD constexpr index_t b_z() const { return tile.batch; }
  TILEWRIGHT_HD constexpr index_t c_z() const { return tile.batch; }
  TILEWRIGHT_HD constexpr index_t first_k() const { return 0; }
  TILEWRIGHT_HD constexpr index_t first_row() const { return 0; }
  /// Whether any of the rows from m on is to be computed.
  TILEWRIGHT_HD constexpr bool has_rows(index_t) const { return true; }
  friend constexpr bool operator==(const work_tile&, const work_tile&) = default;
};

}  // namespace detail

/// Unit u goes to worker u % workers, in ascending order. A tile that is split has a tail, the first k tiles, and
/// `mains` equal parts, each all that its worker has. The first workers, the helpers, have the tails: as many, one
/// after another, as take as long as a main part. So all workers go through the same k at the same time, and find A and
/// B in L2. Without mains, `split_workers` workers share all tiles evenly, and may have the end of a tile and the
/// beginning of the next. The last part of a tile adds up all; it waits for parts of workers with lower numbers only.
/// It is longer than others by about the time that it would wait.
struct stream_k_schedule {
  detail::tile_order order;
  index_t k_tiles;
  index_t workers;
  index_t whole_tiles;    // that are not split: whole rounds, or all
  index_t split_workers;  // workers that share the others; 0 if there are none
  index_t fixup_slack;    // k tiles that a last part has more than its share
  index_t mains = 0, tail = 0;
  index_t parts = 1;  // of every tile, where a kernel that follows adds them up

  TILEWRIGHT_HD constexpr index_t num_split_tiles() const { return order.num_tiles() - whole_tiles; }
  TILEWRIGHT_HD constexpr bool ranges_cross_tiles() const { return split_workers > 0 && mains == 0; }
  TILEWRIGHT_HD constexpr index_t helpers() const { return split_workers - mains * num_split_tiles(); }
  TILEWRIGHT_HD constexpr index_t max_splits() const {
    return ranges_cross_tiles() ? divide(split_workers, num_split_tiles()) + 2 : mains + 1;
  }
  /// Tails that a helper has.
  TILEWRIGHT_HD constexpr index_t tails() const { return mains == 0 ? 0 : ceil_div(num_split_tiles(), helpers()); }
  /// Parts that take time besides k tiles: those that a worker adds up, and several tails of a helper.
  TILEWRIGHT_HD constexpr index_t partials_to_move() const { return max_splits() - 1 + (tails() > 1 ? tails() : 0); }
  /// k tiles of a worker that adds up a tile.
  TILEWRIGHT_HD constexpr index_t longest_range() const {
    const index_t shared = k_tiles - fixup_slack;
    return (mains == 0 ? ceil_div(num_split_tiles() * shared, split_workers) : ceil_div(shared - tail, mains)) +
           fixup_slack;
  }
  TILEWRIGHT_HD constexpr index_t num_work_tiles() const {
    if (mains == 0) return whole_tiles * parts + (split_workers > 0 ? 2 * workers : 0);
    return whole_tiles + max(split_workers, (tails() - 1) * workers + helpers());
  }

  TILEWRIGHT_HD constexpr detail::work_tile operator()(index_t u) const {
    detail::work_tile unit = split_of(u);
    unit.tile = order(tile_of(u, unit));
    return unit;
  }
  /// Unit u, but not where its tile is; and the number of its tile.
  TILEWRIGHT_HD constexpr detail::work_tile split_of(index_t u) const {
    if (parts > 1) return part_of_every_tile(divide(u, whole_tiles));
    return u < whole_tiles ? detail::work_tile{.k_end = k_tiles} : split_unit(u - whole_tiles);
  }
  TILEWRIGHT_HD constexpr index_t tile_of(index_t u, const detail::work_tile& unit) const {
    if (parts > 1) return u - unit.part * whole_tiles;
    return u < whole_tiles ? u : whole_tiles + unit.split_tile;
  }

 private:
  /// Not its last part, which is the other kernel's.
  TILEWRIGHT_HD constexpr detail::work_tile part_of_every_tile(index_t part) const {
    detail::work_tile unit = equal_part(part, parts, 0, k_tiles);
    unit.part = part, unit.parts = parts + 1;
    return unit;
  }
  /// Part `part` of equal ones of `k` k tiles, after `begin` others.
  TILEWRIGHT_HD static constexpr detail::work_tile equal_part(index_t part, index_t parts, index_t begin, index_t k) {
    const index_t each = divide(k, parts), more = k - each * parts, first = begin + part * each + min(part, more);
    return {.k_begin = first, .k_end = first + each + (part < more ? 1 : 0)};
  }
  /// The unit after the whole tiles; its tile of C is not set.
  TILEWRIGHT_HD constexpr detail::work_tile split_unit(index_t u) const {
    const index_t turn = divide(u, workers), worker = u - turn * workers;
    return mains > 0 ? tail_or_main(turn, worker) : crossing_unit(turn > 0, worker);
  }
  TILEWRIGHT_HD constexpr detail::work_tile tail_or_main(index_t turn, index_t worker) const {
    const index_t tiles = num_split_tiles(), main = worker - helpers();
    const index_t part = main < 0 ? -1 : divide(main, tiles);
    const index_t split_tile = main < 0 ? turn * helpers() + worker : main - part * tiles;
    if (main < 0 ? split_tile >= tiles : turn > 0 || worker >= split_workers) return {.split_tile = 0};
    detail::work_tile unit{.k_end = tail};
    if (main >= 0) unit = equal_part(part, mains, tail, k_tiles - fixup_slack - tail);
    if (part + 1 == mains) unit.k_end += fixup_slack;
    unit.part = part + 1, unit.parts = mains + 1, unit.split_tile = split_tile;
    unit.slot = split_tile * unit.parts + unit.part;
    return unit;
  }
  TILEWRIGHT_HD constexpr detail::work_tile crossing_unit(bool second, index_t sharer) const {
    const index_t shared = k_tiles - fixup_slack;
    const index_t total = shared * num_split_tiles();
    index_t begin = divide(total * sharer, split_workers), end = divide(total * (sharer + 1), split_workers);
    // First the beginning of a tile, which others wait for, then the end of the tile before it.
    const index_t split_tile = divide(second ? begin : end - 1, shared), first = split_tile * shared;
    if (second)
      end = begin > first && end > first + shared ? first + shared : begin;
    else
      begin = max(begin, first);
    const auto sharer_of = [&](index_t k) { return divide((k + 1) * split_workers - 1, total); };
    const index_t first_sharer = sharer_of(first), last_sharer = sharer_of(first + shared - 1);
    return {{},
            begin - first,
            end - first + (end == first + shared ? fixup_slack : 0),
            sharer - first_sharer,
            last_sharer - first_sharer + 1,
            split_tile,
            sharer};
  }
};

namespace detail {

/// What splitting tiles costs, in any one unit: a k tile, the wait until others see what a block has written, moving
/// one part, and going from one tail to the next. If shares cross tiles, a k tile takes `crossing` times as long,
/// because workers do not read the same operands at the same time.
struct split_cost {
  index_t k_tile = 1, wait = 4, read = 2, change = 6;
  double crossing = 1.35;
};

/// A schedule for `workers` workers, which finishes soonest by these costs; with at most `max_slots` parts to be kept
/// in memory.
TILEWRIGHT_HD constexpr stream_k_schedule make_stream_k_schedule(const tile_order& order, index_t k_tiles,
                                                                 index_t workers, index_t max_slots,
                                                                 split_cost cost = {}) {
  const index_t tiles = order.num_tiles(), left = modulo(tiles, workers),
                fixup_slack = divide(cost.wait + cost.k_tile / 2, cost.k_tile), shared = k_tiles - fixup_slack;
  stream_k_schedule best{order, k_tiles, workers, tiles, 0, 0};
  if (left == 0) return best;
  double best_time = double(k_tiles) * cost.k_tile;
  const auto consider = [&](const stream_k_schedule& s, double factor) {
    const index_t share = s.longest_range() - fixup_slack;
    const double time = factor * share * cost.k_tile + cost.wait + cost.read * s.partials_to_move();
    if (time >= best_time) return;
    best = s;
    best_time = time;
  };
  for (index_t mains = 1; mains * left < workers && (mains + 1) * left <= max_slots; ++mains) {
    const index_t tails = ceil_div(left, workers - mains * left), helpers = ceil_div(left, tails),
                  changes = divide((tails - 1) * cost.change, cost.k_tile),
                  tail = divide(max(shared - mains * changes, 0), mains * tails + 1);
    if (tail > 0)
      consider({order, k_tiles, workers, tiles - left, mains * left + helpers, fixup_slack, mains, tail}, 1);
  }
  const long_index_t to_share = long_index_t(left) * shared;
  // The schedule's numbers must fit, however long k is.
  if (workers <= max_slots && workers <= to_share && to_share * workers <= 0x7fffffff)
    consider({order, k_tiles, workers, tiles - left, workers, fixup_slack}, cost.crossing);
  return best;
}

}  // namespace detail

}  // namespace tilewright
