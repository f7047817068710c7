// SPDX-License-Identifier: MIT
// Tiles of grouped products for persistent blocks: the lengths of groups are read on the device.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/gemm/gemm_args.hpp>
#include <tilewright/gemm/grid_order.hpp>

namespace tilewright::detail {

/// Rows (or k) that belong to a group.
struct group_rows {
  index_t begin, end;

  TILEWRIGHT_HD constexpr index_t count() const { return end - begin; }
};

/// Those of group `g` among `all`; none where there is no such group. What the arrays say beyond `all` is left out.
TILEWRIGHT_HD group_rows rows_of_group(const grouped_args& args, index_t all, index_t g) {
  constexpr index_t bytes = sizeof(index_t);
  const exec::global_buffer lengths =
      exec::make_global_buffer(args.counts ? args.counts : args.ends, long_index_t(args.groups) * bytes);
  const index_t last = exec::buffer_load<index_t>(lengths, g * bytes);
  if (args.counts) {
    const index_t begin = min(g, args.groups) * args.slot_rows;
    return {begin, begin + max(0, min(last, args.slot_rows))};
  }
  const index_t begin = max(0, min(exec::buffer_load<index_t>(lengths, g * bytes - bytes), all));
  return {begin, max(begin, min(last, all))};
}

/// How all groups are divided into tiles: of tile_rows rows each and `cols` along n, in an order of `order_rows` rows
/// of tiles at a time.
struct group_tiles {
  index_t tile_rows, cols, order_rows;
};

/// A tile of a group, whose position is counted from the group's first row.
struct group_tile {
  tile_position at;  // batch: the group
  group_rows rows;   // of the group
};

/// Finds tiles by number where groups divide rows. A wave looks at as many groups at once as it has lanes.
template <index_t WaveSize>
class row_group_walk {
  const grouped_args& args_;
  group_tiles tiles_;
  index_t first_ = 0, before_ = 0;  // the first of the wave's groups; tiles of the groups before it
  group_rows rows_{};               // of the lane's group
  index_t through_ = 0;             // tiles of the wave's groups up to the lane's

  TILEWRIGHT_HD void read_groups() {
    const index_t lane = exec::lane_id();
    rows_ = rows_of_group(args_, args_.m, first_ + lane);
    through_ = ceil_div(rows_.count(), tiles_.tile_rows) * tiles_.cols;
    TILEWRIGHT_UNROLL(1)
    for (index_t distance = 1; distance < WaveSize; distance *= 2) {
      const index_t before = exec::shuffle(through_, lane - distance);
      if (lane >= distance) through_ += before;
    }
  }

 public:
  TILEWRIGHT_HD row_group_walk(const grouped_args& args, const group_tiles& tiles) : args_(args), tiles_(tiles) {
    read_groups();
  }

  /// [wave] Tile i, which is not before those found so far; false where there are fewer tiles.
  TILEWRIGHT_HD bool find(index_t i, group_tile& found) {
    TILEWRIGHT_UNROLL(1)
    for (;;) {
      const index_t here = exec::shuffle(through_, WaveSize - 1);
      if (i - before_ < here) break;
      before_ += here;
      first_ += WaveSize;
      if (first_ >= args_.groups) return false;
      read_groups();
    }
    index_t lane = 0;
    TILEWRIGHT_UNROLL(1)
    for (index_t step = WaveSize / 2; step > 0; step /= 2) {
      if (exec::shuffle(through_, lane + step - 1) <= i - before_) lane += step;
    }
    const index_t earlier = exec::shuffle(through_, lane - 1);
    found.rows = {exec::shuffle(rows_.begin, lane), exec::shuffle(rows_.end, lane)};
    const index_t rows = ceil_div(found.rows.count(), tiles_.tile_rows);
    const grid_order order{grid_curve::row_groups, tiles_.order_rows, 1, true};
    const multi_index<2> at =
        order.tile_along<grid_curve::row_groups>(i - before_ - (lane > 0 ? earlier : 0), rows, tiles_.cols);
    found.at = {at[0], at[1], first_ + lane};
    return true;
  }
};

/// Finds tiles by number where groups divide k: each has as many.
class k_group_walk {
  const grouped_args& args_;
  tile_order order_;

 public:
  TILEWRIGHT_HD k_group_walk(const grouped_args& args, const group_tiles& tiles)
      : args_(args), order_{ceil_div(args.m, tiles.tile_rows), tiles.cols, args.groups, tiles.order_rows} {}

  TILEWRIGHT_HD bool find(index_t i, group_tile& found) const {
    if (i >= order_.num_tiles()) return false;
    found.at = order_(i);
    found.rows = rows_of_group(args_, args_.k, found.at.batch);
    return true;
  }
};

template <group_kind Kind, index_t WaveSize>
using group_walk = conditional_t<Kind == group_kind::rows, row_group_walk<WaveSize>, k_group_walk>;

}  // namespace tilewright::detail
