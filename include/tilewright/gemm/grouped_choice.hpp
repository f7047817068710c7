// SPDX-License-Identifier: MIT
// Which tile suits a grouped product on Hopper.
#pragma once

#include <tilewright/gemm/grouped_specialized.hpp>
#include <tilewright/gemm/specialized_choice.hpp>

namespace tilewright {

/// The tiles to choose from.
inline constexpr array<specialized_tile, 4> grouped_tiles{{
    {.m = 128, .n = 256},
    {.m = 128, .n = 256, .share_b = 2},
    {.m = 128, .n = 192, .share_b = 2},
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
                                        index_t element_bytes, index_t multiprocessors) {
  const specialized_tile& t = grouped_tiles[tile];
  const index_t rows = t.m * t.share_b, workers = expected_clusters(t, multiprocessors),
                k_tiles = ceil_div(g.k, 128 / element_bytes);
  const double unfilled = g.m % (long_index_t(g.groups) * rows) == 0 ? 0 : 0.45;  // equal groups may be whole tiles
  const double tiles_along_m =
      g.groups == 1 ? ceil_div(g.m, rows) : max(double(g.groups), double(g.m) / rows + unfilled * g.groups);
  const double rounds = tiles_along_m * ceil_div(g.n, t.n * t.share_a) / workers;
  // Few rounds are whole ones, unless the last one is split along k.
  const double whole_rounds = g.workspace && k_tiles >= 24 ? rounds + 0.4
                              : rounds > 6 ? rounds
                                           : max(1, index_t(rounds) + (rounds > index_t(rounds) ? 1 : 0));
  const double slower = t.cluster() == 1 && g.m < 2048ll * g.groups ? x.alone : 1;
  const double busy = whole_rounds * k_tiles * x.k_tile[tile] * slower;
  const double bytes = (double(g.m) * g.k + double(g.groups) * g.n * g.k) * element_bytes + double(g.m) * g.n * 2;
  return max(busy, bytes / x.bytes) + max(whole_rounds, 1.0) * t.num_boxes() * x.end +
         (t.cluster() > 1 ? x.in_pair : 0);
}

}  // namespace detail

/// The number in grouped_tiles of the tile for a product, of one group if it is dense. The device alone knows how long
/// groups are, so they are taken to be of about equal length.
constexpr index_t choose_grouped_tile(const grouped_args& g, bool by_rows, index_t multiprocessors,
                                      index_t element_bytes = 2, bool is_block_scaled = false) {
  const detail::grouped_model& x = is_block_scaled ? detail::block_scaled_times : detail::grouped_times;
  index_t best = 1;
  for (index_t i = 0; by_rows && i < grouped_tiles.size(); ++i) {
    if (detail::predict_grouped_clocks(g, i, x, element_bytes, multiprocessors) <
        detail::predict_grouped_clocks(g, best, x, element_bytes, multiprocessors))
      best = i;
  }
  return best;
}

}  // namespace tilewright
