// SPDX-License-Identifier: MIT
// Which tile suits a grouped product on Hopper.
#pragma once

#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_hopper.hpp>

namespace tilewright {

/// The tiles to choose from where groups divide rows. The second one suits groups that divide k.
inline constexpr array<hopper_gemm_tile, 4> grouped_tiles{{
    {.m = 128, .n = 256},
    {.m = 128, .n = 256, .cluster_m = 2},
    {.m = 128, .n = 192, .cluster_m = 2},
    {.m = 128, .n = 128},
}};

/// Clocks of an SM that a tile takes for a product whose groups divide rows, or that is dense (of no group or one);
/// rough, to compare tiles. The device alone knows how long groups are, so they are taken to be of about equal length:
/// a group has 0.45 of a tile of rows that it does not fill, if it has more than one. Pairs of blocks that lie side by
/// side count as blocks alone, as they do not share B: with one row of blocks in each group all of them, with more the
/// less.
constexpr double predict_grouped_clocks(const grouped_args& g, const hopper_gemm_tile& t,
                                        const gemm_operand_types& types, index_t SMs) {
  const index_t groups = max(1, g.groups), workers = detail::expected_clusters(t, SMs);
  const grid_size cluster = detail::cluster_of_c(t);
  gemm_args of_group = g;
  of_group.m = ceil_div(g.m, groups);
  of_group.batch = groups;
  of_group.batch_stride_a = of_group.batch_stride_b = 1;
  const bool has_pairs = g.groups > 0 && detail::pairs_blocks(t, group_kind::rows);
  const double blocks_of_group = max(1.0, double(of_group.m) / t.m), alone = 1 / (blocks_of_group * blocks_of_group);
  const index_t rows = g.groups == 0 ? cluster.x : detail::group_tile_rows(t, group_kind::rows);
  const index_t rows_of_cluster = cluster.x / rows;
  const bool whole = groups == 1 || g.m % (long_index_t(groups) * rows) == 0;  // equal groups may be whole tiles
  const double rows_of_tiles =
      (whole ? ceil_div(g.m, rows) : max(double(groups), double(g.m) / rows + 0.45 * groups)) / rows_of_cluster;
  const index_t tiles = index_t(rows_of_tiles * ceil_div(g.n, cluster.y) + 0.5);
  const index_t max_slots = g.workspace ? index_t(hopper_gemm_workspace::num_floats / (t.m * t.n * t.cluster())) : 0;
  const gemm_args ordered = detail::in_order_of(t, of_group);
  stream_k_schedule s =
      detail::make_grouped_schedule(tiles, ceil_div(g.k, 128 / types.element_bytes), workers, max_slots);
  const double clocks = detail::predict_clocks_of(s, ordered, t, types, SMs);
  if (!has_pairs || alone < 0.02) return clocks;
  hopper_gemm_tile one = t;
  one.cluster_m = 1;
  return alone * predict_grouped_clocks(g, one, types, SMs) + (1 - alone) * clocks;
}

/// The number in grouped_tiles of the tile for a product whose groups divide rows, or that is dense.
constexpr index_t choose_grouped_tile(const grouped_args& g, index_t SMs, index_t element_bytes = 2,
                                      bool is_block_scaled = false) {
  const gemm_operand_types types{.element_bytes = element_bytes, .is_block_scaled = is_block_scaled};
  const auto clocks = [&](index_t i) { return predict_grouped_clocks(g, grouped_tiles[i], types, SMs); };
  index_t best = 1;
  for (index_t i = 0; i < grouped_tiles.size(); ++i) best = clocks(i) < clocks(best) ? i : best;
  return best;
}

/// The tiles of the GEMMs of experts: pairs of blocks for many rows of each expert; a block of two tiles for few, and a
/// small one for few rows of many experts.
inline constexpr array<hopper_gemm_tile, 3> expert_tiles{{
    grouped_tiles[1],
    {.m = 64, .n = 128, .ping_pong = true},
    {.m = 64, .n = 128, .consumers = 1, .blocks = 2},
}};

/// Whether experts have so few of the entries, on average, that reading their weights takes most of the time.
constexpr bool has_few_rows_of_each_expert(index_t entries, index_t experts) { return entries / experts <= 48; }

/// The number in expert_tiles for one of the GEMMs of experts, whose g.n counts the columns of all products. By times
/// on an H100 and an H200, of routing that is uneven; the device alone knows which experts have rows.
constexpr index_t choose_expert_tile(const grouped_args& g, bool is_gate_up, index_t SMs) {
  const index_t groups = max(g.groups, 1);
  if (!has_few_rows_of_each_expert(g.m, groups)) return 0;
  const long_index_t tiles = long_index_t(min(g.m, groups)) * ceil_div(g.n, 128);
  return !is_gate_up && tiles > 16 * SMs ? 2 : 1;
}

}  // namespace tilewright
