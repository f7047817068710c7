// SPDX-License-Identifier: MIT
// Stream-K: shares the tiles of C among persistent workers, and splits those of a partial last round along k.
#pragma once

#include <tilewright/block/schedule/tile_order.hpp>

namespace tilewright {

namespace detail {

/// What a worker computes at once: the k tiles [k_begin, k_end) of one tile of C. Of a split tile it is one of `splits`
/// peers, which follow each other along k. The last peer does the fix-up: it adds the partial sums of the others, which
/// are in consecutive slots of a workspace, to its own and writes C.
struct work_tile {
  tile_coord tile = {};
  index_t k_begin = 0, k_end = 0;
  index_t split = 0, splits = 1;  ///< Which of the tile's peers this is, and how many there are; 1: not split.
  index_t split_tile = -1;        ///< The tile's number among those that are split.
  index_t slot = -1;              ///< For the partial sums of this split.

  TILEWRIGHT_HD constexpr bool is_empty() const { return k_begin == k_end; }
  TILEWRIGHT_HD constexpr bool is_last_split() const { return split + 1 == splits; }
  friend constexpr bool operator==(const work_tile&, const work_tile&) = default;
};

}  // namespace detail

/// Work tile u goes to worker u % workers; a worker computes its own in ascending order: first whole tiles, in rounds
/// of one for each worker. Tiles that would leave many workers idle in a last round are split in one of two ways:
///
///   main_splits = 2, two tiles, five workers: a head of a few k tiles, and equal main splits, one for each worker.
///   Head workers have heads of several tiles, as many as take as long as a main split. All workers go through the same
///   k at the same time, and find A and B in L2.
///
///     k ->      head | main split     | main split + slack
///     tile 0     w0  |       w1       |        w3
///     tile 1     w0  |       w2       |        w4
///
///   main_splits = 0, two tiles, five workers: equal ranges of the k of all these tiles one after the other, which may
///   cross from a tile to the next.
///
///     tile 0     w0         |       w1        |  w2 (second)
///     tile 1     w2 (first) |       w3        |     w4
///
/// The last peer waits for workers with lower numbers only, and each worker waits last of all: no cycle. It has
/// fixup_slack k tiles more than the others, which take about the time that it would wait.
struct stream_k_schedule {
  detail::tile_order order;           ///< The coordinates of tile number i.
  index_t k_tiles;                    ///< Of a tile of C.
  index_t workers;                    ///< Clusters that run at the same time.
  index_t whole_tiles;                ///< Tiles that are not split: whole rounds, or all.
  index_t split_workers;              ///< Workers that share the split tiles; 0: no tile is split.
  index_t fixup_slack;                ///< k tiles that the last peer has more than its share.
  index_t main_splits = 0, head = 0;  ///< Main splits of a tile, and k tiles of its head.
  index_t splits = 1;                 ///< Of every tile, where a kernel that follows adds them up.

  /// Tiles that are split.
  TILEWRIGHT_HD constexpr index_t num_split_tiles() const { return order.num_tiles() - whole_tiles; }
  /// Whether workers take equal ranges of k tiles, without regard to tiles.
  TILEWRIGHT_HD constexpr bool ranges_cross_tiles() const { return split_workers > 0 && main_splits == 0; }
  /// Workers that compute heads.
  TILEWRIGHT_HD constexpr index_t head_workers() const { return split_workers - main_splits * num_split_tiles(); }
  /// Heads of each of these workers.
  TILEWRIGHT_HD constexpr index_t heads_per_worker() const {
    return main_splits == 0 ? 0 : ceil_div(num_split_tiles(), head_workers());
  }
  /// The most peers that a tile has.
  TILEWRIGHT_HD constexpr index_t max_splits() const {
    return ranges_cross_tiles() ? divide(split_workers, num_split_tiles()) + 2 : main_splits + 1;
  }
  /// Partial sums that take a worker's time besides its k tiles: those that it adds up, and several heads.
  TILEWRIGHT_HD constexpr index_t partials_to_move() const {
    return max_splits() - 1 + (heads_per_worker() > 1 ? heads_per_worker() : 0);
  }
  /// k tiles of a worker that adds up a tile.
  TILEWRIGHT_HD constexpr index_t longest_range() const {
    const index_t shared = k_tiles - fixup_slack;
    return (main_splits == 0 ? ceil_div(num_split_tiles() * shared, split_workers)
                             : ceil_div(shared - head, main_splits)) +
           fixup_slack;
  }
  /// Numbers u of work tiles, of which some are empty.
  TILEWRIGHT_HD constexpr index_t num_work_tiles() const {
    if (main_splits == 0) return whole_tiles * splits + (split_workers > 0 ? 2 * workers : 0);
    return whole_tiles + max(split_workers, (heads_per_worker() - 1) * workers + head_workers());
  }

  /// Work tile u < num_work_tiles().
  TILEWRIGHT_HD constexpr detail::work_tile operator()(index_t u) const {
    detail::work_tile work = split_of(u);
    work.tile = order(tile_of(u, work));
    return work;
  }
  /// Work tile u without the coordinate of its tile, and that tile's number in `order`.
  TILEWRIGHT_HD constexpr detail::work_tile split_of(index_t u) const {
    if (splits > 1) return split_of_every_tile(divide(u, whole_tiles));
    return u < whole_tiles ? detail::work_tile{.k_end = k_tiles} : split_after_whole_tiles(u - whole_tiles);
  }
  /// The number in `order` of the tile that work tile u = `work` is of.
  TILEWRIGHT_HD constexpr index_t tile_of(index_t u, const detail::work_tile& work) const {
    if (splits > 1) return u - work.split * whole_tiles;
    return u < whole_tiles ? u : whole_tiles + work.split_tile;
  }

 private:
  /// The kernel that follows does the fix-up, so no split is the last one.
  TILEWRIGHT_HD constexpr detail::work_tile split_of_every_tile(index_t split) const {
    detail::work_tile work = equal_split(split, splits, 0, k_tiles);
    work.split = split, work.splits = splits + 1;
    return work;
  }
  /// Number `split` of `splits` equal ones of the k tiles [begin, begin + k).
  TILEWRIGHT_HD static constexpr detail::work_tile equal_split(index_t split, index_t splits, index_t begin,
                                                               index_t k) {
    const index_t each = divide(k, splits), more = k - each * splits, first = begin + split * each + min(split, more);
    return {.k_begin = first, .k_end = first + each + (split < more ? 1 : 0)};
  }
  TILEWRIGHT_HD constexpr detail::work_tile split_after_whole_tiles(index_t u) const {
    const index_t round = divide(u, workers), worker = u - round * workers;
    return main_splits > 0 ? head_or_main_split(round, worker) : range_of_worker(round > 0, worker);
  }
  TILEWRIGHT_HD constexpr detail::work_tile head_or_main_split(index_t round, index_t worker) const {
    const index_t tiles = num_split_tiles(), main = worker - head_workers();
    const index_t split = main < 0 ? -1 : divide(main, tiles);
    const index_t split_tile = main < 0 ? round * head_workers() + worker : main - split * tiles;
    if (main < 0 ? split_tile >= tiles : round > 0 || worker >= split_workers) return {.split_tile = 0};
    detail::work_tile work{.k_end = head};
    if (main >= 0) work = equal_split(split, main_splits, head, k_tiles - fixup_slack - head);
    if (split + 1 == main_splits) work.k_end += fixup_slack;
    work.split = split + 1, work.splits = main_splits + 1, work.split_tile = split_tile;
    work.slot = split_tile * work.splits + work.split;
    return work;
  }
  /// A worker's range covers the end of one tile and the beginning of the next at most. It computes the beginning
  /// first, for which others wait.
  TILEWRIGHT_HD constexpr detail::work_tile range_of_worker(bool second, index_t worker) const {
    const index_t shared = k_tiles - fixup_slack;
    const index_t total = shared * num_split_tiles();
    index_t begin = divide(total * worker, split_workers), end = divide(total * (worker + 1), split_workers);
    const index_t split_tile = divide(second ? begin : end - 1, shared), first = split_tile * shared;
    if (second)
      end = begin > first && end > first + shared ? first + shared : begin;
    else
      begin = max(begin, first);
    const auto worker_of = [&](index_t k) { return divide((k + 1) * split_workers - 1, total); };
    const index_t first_worker = worker_of(first), last_worker = worker_of(first + shared - 1);
    return {.tile = {},
            .k_begin = begin - first,
            .k_end = end - first + (end == first + shared ? fixup_slack : 0),
            .split = worker - first_worker,
            .splits = last_worker - first_worker + 1,
            .split_tile = split_tile,
            .slot = worker};
  }
};

namespace detail {

/// What splitting tiles costs, in one unit of the caller's choice.
struct split_cost {
  index_t k_tile = 1;      ///< A k tile of a worker.
  index_t wait = 4;        ///< Until other workers see what one has written.
  index_t read = 2;        ///< Moving the partial sums of one split.
  index_t change = 6;      ///< Going from one head to the next.
  double crossing = 1.35;  ///< A k tile takes so many times as long where ranges cross tiles: workers read different k.
};

/// The schedule for `workers` workers that finishes soonest by these costs. A workspace has room for the partial sums
/// of max_slots splits; 0: no tile is split.
TILEWRIGHT_HD constexpr stream_k_schedule make_stream_k_schedule(const tile_order& order, index_t k_tiles,
                                                                 index_t workers, index_t max_slots,
                                                                 split_cost cost = {}) {
  const index_t tiles = order.num_tiles(), left = modulo(tiles, workers),
                slack = divide(cost.wait + cost.k_tile / 2, cost.k_tile), shared = k_tiles - slack;
  stream_k_schedule best{order, k_tiles, workers, tiles, 0, 0};
  if (left == 0) return best;
  double best_time = double(k_tiles) * cost.k_tile;
  const auto consider = [&](index_t split_workers, index_t main_splits, index_t head, double factor) {
    const stream_k_schedule s{order, k_tiles, workers, tiles - left, split_workers, slack, main_splits, head};
    const index_t range = s.longest_range() - slack;
    const double time = factor * range * cost.k_tile + cost.wait + cost.read * s.partials_to_move();
    if (time >= best_time) return;
    best = s;
    best_time = time;
  };
  for (index_t main_splits = 1; main_splits * left < workers && (main_splits + 1) * left <= max_slots; ++main_splits) {
    const index_t heads = ceil_div(left, workers - main_splits * left), head_workers = ceil_div(left, heads),
                  changes = divide((heads - 1) * cost.change, cost.k_tile),
                  head = divide(max(shared - main_splits * changes, 0), main_splits * heads + 1);
    if (head > 0) consider(main_splits * left + head_workers, main_splits, head, 1);
  }
  const long_index_t to_share = long_index_t(left) * shared;
  // Products of the schedule's numbers must fit in 32 bits, however long k is.
  if (workers <= max_slots && workers <= to_share && to_share * workers <= 0x7fffffff)
    consider(workers, 0, 0, cost.crossing);
  return best;
}

}  // namespace detail

}  // namespace tilewright
