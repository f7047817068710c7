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

namespace detail {

/// Clocks of the model's parts, fitted to times of all tiles for products on an H100.
struct grouped_model {
  array<double, 4> k_tile;  // of 128 bytes along k, for each of grouped_tiles
  double alone;             // times this in groups of few rows where blocks do not share B: L2 reads more of it
  double end;               // each box of C
  double in_pair;           // a launch of clusters
  double bytes;             // of memory in a clock
};
inline constexpr grouped_model grouped_times{{848, 804, 642, 532}, 1.1, 177, 420, 2970},
    block_scaled_times{{1210, 1200, 1000, 810}, 1.22, 836, 4500, 1640};

/// About how many clocks a product takes whose groups divide rows, as far as the host knows it: a group has 0.45 of a
/// tile of rows that it does not fill.
constexpr double predict_grouped_clocks(const grouped_args& g, index_t tile, const grouped_model& x,
                                        index_t element_bytes, index_t SMs) {
  const hopper_gemm_tile& t = grouped_tiles[tile];
  const index_t groups = max(1, g.groups), rows = t.m * t.cluster_m, workers = expected_clusters(t, SMs),
                k_tiles = ceil_div(g.k, 128 / element_bytes);
  const bool whole = groups == 1 || g.m % (long_index_t(groups) * rows) == 0;  // equal groups may be whole tiles
  const double tiles_along_m = whole ? ceil_div(g.m, rows) : max(double(groups), double(g.m) / rows + 0.45 * groups);
  const double rounds = tiles_along_m * ceil_div(g.n, t.n) / workers;
  // Few rounds are whole ones, unless the last one is split along k.
  const double whole_rounds = g.workspace && k_tiles >= 24 ? rounds + 0.4
                              : rounds > 6                 ? rounds
                                                           : index_t(rounds) + (rounds > index_t(rounds) ? 1 : 0);
  const double slower = t.cluster() == 1 && g.m < 2048ll * groups ? x.alone : 1;
  const double bytes = (double(g.m) * g.k + double(groups) * g.n * g.k) * element_bytes + double(g.m) * g.n * 2;
  return max(whole_rounds * k_tiles * x.k_tile[tile] * slower, bytes / x.bytes) +
         max(whole_rounds, 1.0) * t.num_boxes() * x.end + (t.cluster() > 1 ? x.in_pair : 0);
}

}  // namespace detail

/// The number in grouped_tiles of the tile for a product whose groups divide rows, or that is dense: of no group or
/// one. The device alone knows how long groups are, so they are taken to be of about equal length.
constexpr index_t choose_grouped_tile(const grouped_args& g, index_t SMs, index_t element_bytes = 2,
                                      bool is_block_scaled = false) {
  const detail::grouped_model& x = is_block_scaled ? detail::block_scaled_times : detail::grouped_times;
  const auto clocks = [&](index_t i) { return detail::predict_grouped_clocks(g, i, x, element_bytes, SMs); };
  index_t best = 1;
  for (index_t i = 0; i < grouped_tiles.size(); ++i) best = clocks(i) < clocks(best) ? i : best;
  return best;
}

/// The tiles of the GEMMs of experts: two of grouped_tiles for many rows of each expert; a block of two tiles for few,
/// and a small one for few rows of many experts.
inline constexpr array<hopper_gemm_tile, 4> expert_tiles{{
    grouped_tiles[0],
    grouped_tiles[1],
    {.m = 64, .n = 128, .ping_pong = true},
    {.m = 64, .n = 128, .consumers = 1, .blocks = 2},
}};

/// The number in expert_tiles for one of the GEMMs of experts, whose g.n counts the columns of all products. By times of
/// all tiles on an H100, of routing that is uneven; the device alone knows which experts have rows.
constexpr index_t choose_expert_tile(const grouped_args& g, bool is_gate_up, index_t SMs) {
  constexpr index_t few_rows = 48, many_rows = 192;
  const index_t groups = max(g.groups, 1), rows = g.m / groups;
  if (rows <= few_rows) {
    const long_index_t tiles = long_index_t(min(g.m, groups)) * ceil_div(g.n, 128);
    return !is_gate_up && tiles > 16 * SMs ? 3 : 2;
  }
  return rows >= many_rows || (groups >= 256 && rows >= many_rows / 2) ? 1 : 0;
}

}  // namespace tilewright
