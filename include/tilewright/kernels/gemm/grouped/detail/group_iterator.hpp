// SPDX-License-Identifier: MIT
// Tiles of grouped products for persistent blocks: the lengths of groups are read on the device.
#pragma once

#include <tilewright/block/schedule/tile_order.hpp>
#include <tilewright/kernels/gemm/gemm_args.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright::detail {

/// Rows (or k) that belong to a group.
struct group_rows {
  index_t begin, end;

  TILEWRIGHT_HD constexpr index_t count() const { return end - begin; }
};

/// Those of group `g` among `all`; none where there is no such group. What the arrays say beyond `all` is left out.
TILEWRIGHT_HD group_rows rows_of_group(const grouped_args& args, index_t all, index_t g) {
  if (g >= args.groups) return {all, all};
  if (args.counts) {
    const index_t begin = g * args.slot_rows;
    return {begin, begin + max(0, min(exec::load_element(args.counts + g), args.slot_rows))};
  }
  const index_t begin = g == 0 ? 0 : max(0, min(exec::load_element(args.ends + (g - 1)), all));
  return {begin, max(begin, min(exec::load_element(args.ends + g), all))};
}

/// Tiles of all groups: `cols` along n, in an order of `order_rows` rows of tiles at a time.
struct group_tiles {
  index_t cols, order_rows;
};

/// A tile of a group, whose position is counted from the group's first row.
struct group_tile {
  tile_coord at;              // batch: the group
  group_rows rows;            // of the group
  bool side_by_side = false;  // a pair in the group's last row of blocks; at.col counts pairs
};

/// Tiles of a group of `rows` rows of blocks, in whose tiles two blocks lie one above the other. If their number is
/// odd, pairs in the last row lie side by side:
///
///   three rows, four columns   |  0 |  1 |  2 |  3 |
///                              |    |    |    |    |
///                              |    4    |    5    |
struct pairs_of_group {
  index_t rows, cols;

  TILEWRIGHT_HD constexpr index_t above_each_other() const { return divide(rows, 2) * cols; }
  TILEWRIGHT_HD constexpr index_t num_tiles() const {
    return above_each_other() + modulo(rows, 2) * divide(cols + 1, 2);
  }
};

/// Finds tiles by number where groups divide rows, Lanes groups at once: one for each lane of the wave; or one, by
/// every thread alike. Tiles have TileRows rows; with Pairs they are pairs of blocks of as many (pairs_of_group).
/// find() is short: once in a tile of C it is not in any cache.
template <index_t Lanes, index_t TileRows, bool Pairs = false>
class row_group_iterator {
  const grouped_args& args_;
  group_tiles tiles_;
  index_t first_ = 0, before_ = 0;  // the first of the wave's groups; tiles of the groups before it
  group_rows rows_{};               // of the lane's group
  index_t through_ = 0;             // tiles of the wave's groups up to the lane's

  TILEWRIGHT_HD void read_groups() {
    const index_t lane = Lanes == 1 ? 0 : exec::lane_id();
    rows_ = rows_of_group(args_, args_.m, first_ + lane);
    through_ = tiles_of(rows_);
    TILEWRIGHT_UNROLL(1)
    for (index_t distance = 1; distance < Lanes; distance *= 2) {
      const index_t before = of_lane(through_, lane - distance);
      if (lane >= distance) through_ += before;
    }
  }

  TILEWRIGHT_HD index_t tiles_of(const group_rows& rows) const {
    if constexpr (Pairs) return pairs_of_group{rows_of_tiles(rows), tiles_.cols}.num_tiles();
    return rows_of_tiles(rows) * tiles_.cols;
  }
  TILEWRIGHT_HD static index_t rows_of_tiles(const group_rows& rows) {
    // Divisions of signed numbers spill fewer registers on gfx942, but take more instructions on Hopper.
    return Lanes == 1 ? ceil_div(rows.count(), TileRows) : divide(rows.count() + TileRows - 1, TileRows);
  }
  TILEWRIGHT_HD static index_t of_lane(index_t value, [[maybe_unused]] index_t lane) {
    if constexpr (Lanes == 1) return value;
    return exec::shuffle(value, lane);
  }
  /// The same; of one lane, the compiler keeps values in uniform registers.
  TILEWRIGHT_HD static index_t uniform(index_t value, index_t lane) { return of_lane(of_lane(value, lane), 0); }
  /// Tiles of the wave's groups up to the lane's; of one group counted again, which takes fewer registers.
  TILEWRIGHT_HD index_t through() const { return Lanes == 1 ? tiles_of(rows_) : through_; }
  /// Lanes whose groups, and all before them, end before tile i.
  TILEWRIGHT_HD index_t lanes_before(index_t i) const {
    const bool before = through() <= i - before_;
    if constexpr (Lanes == 1) return before;
    return exec::count_lanes(exec::ballot(before));
  }

 public:
  /// reads: else it finds no tile.
  TILEWRIGHT_HD row_group_iterator(const grouped_args& args, const group_tiles& tiles, bool reads = true)
      : args_(args), tiles_(tiles) {
    if (reads) read_groups();
  }

  /// Tiles of all groups. Loads of several are in flight: every block waits for this sum before its first tile.
  TILEWRIGHT_HD index_t num_tiles() const {
    constexpr index_t at_once = Lanes == 1 ? 1 : 4;
    index_t n = 0;
    TILEWRIGHT_UNROLL(1)
    for (index_t first = Lanes == 1 ? 0 : exec::lane_id(); first < args_.groups; first += at_once * Lanes) {
      array<group_rows, at_once> rows;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < at_once; ++i) rows[i] = rows_of_group(args_, args_.m, first + i * Lanes);
      for (const group_rows& of_group : rows.elements) n += tiles_of(of_group);
    }
    for (index_t distance = 1; distance < Lanes; distance *= 2) n += of_lane(n, exec::lane_id() ^ distance);
    return of_lane(n, 0);
  }

  /// Tile i; false where there are fewer tiles. Fast if it is not before those found so far.
  TILEWRIGHT_HD bool find(index_t i, group_tile& found) {
    if (Lanes > 1 && i < before_) {  // one lane iterates forwards
      first_ = before_ = 0;
      read_groups();
    }
    index_t lane;  // whose group has the tile
    TILEWRIGHT_UNROLL(1)
    while ((lane = lanes_before(i)) == Lanes) {
      before_ += of_lane(through(), Lanes - 1);
      first_ += Lanes;
      if (first_ >= args_.groups) return false;
      read_groups();
    }
    found.rows = {uniform(rows_.begin, lane), uniform(rows_.end, lane)};
    const index_t first = before_ + uniform(through(), lane) - tiles_of(found.rows);
    index_t rows = rows_of_tiles(found.rows);
    if constexpr (Pairs) {
      const index_t of_last_row = i - first - pairs_of_group{rows, tiles_.cols}.above_each_other();
      rows = divide(rows, 2);
      found.side_by_side = of_last_row >= 0;
      if (found.side_by_side) {
        found.at = {rows, of_last_row, first_ + lane};
        return true;
      }
    }
    const multi_index<2> at = row_group_curve{rows, tiles_.cols, tiles_.order_rows, true}.get_index(i - first);
    found.at = {at[0], at[1], first_ + lane};
    return true;
  }
};

/// Finds tiles by number where groups divide k: each has as many.
template <index_t TileRows>
class k_group_iterator {
  const grouped_args& args_;
  tile_order order_;

 public:
  TILEWRIGHT_HD k_group_iterator(const grouped_args& args, const group_tiles& tiles, bool = true)
      : args_(args), order_{ceil_div(args.m, TileRows), tiles.cols, args.groups, tiles.order_rows} {}

  TILEWRIGHT_HD bool find(index_t i, group_tile& found) const {
    if (i >= order_.num_tiles()) return false;
    found.at = order_(i);
    found.rows = rows_of_group(args_, args_.k, found.at.batch);
    return true;
  }
};

template <group_kind Kind, index_t Lanes, index_t TileRows, bool Pairs = false>
using group_iterator =
    conditional_t<Kind == group_kind::rows, row_group_iterator<Lanes, TileRows, Pairs>, k_group_iterator<TileRows>>;

}  // namespace tilewright::detail
