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

/// About how many clocks a grouped product takes whose groups divide rows, as far as the host knows it: a group has
/// two fifths of a tile of rows that it does not fill. Fitted to times of all tiles for 33 products on an H100.
constexpr double predict_grouped_clocks(const grouped_args& g, const specialized_tile& t, index_t element_bytes,
                                        index_t multiprocessors) {
  const index_t rows = t.m * t.share_b, workers = detail::expected_clusters(t, multiprocessors);
  const double unfilled = g.m % (long_index_t(g.groups) * rows) == 0 ? 0 : 0.4;  // equal groups may be whole tiles
  const double tiles_along_m = max(double(g.groups), double(g.m) / rows + unfilled * g.groups);
  const double rounds = tiles_along_m * ceil_div(g.n, t.n * t.share_a) / workers;
  const index_t k_tiles = ceil_div(g.k, 128 / element_bytes);
  // Few rounds are whole ones, unless the last one is split along k.
  const double whole_rounds = g.workspace && k_tiles >= 24 ? max(rounds + 0.1, 0.3)
                              : rounds > 6 ? rounds
                                           : max(1, index_t(rounds) + (rounds > index_t(rounds) ? 1 : 0));
  const double alone = t.cluster() > 1 ? 1 : 1.1;  // several groups at a time: B comes less often from the L2 cache
  const double busy = whole_rounds * k_tiles * detail::clocks_of_k_tile(t, 1, {element_bytes}) * alone;
  const double bytes = (double(g.m) * g.k + double(g.groups) * g.n * g.k) * element_bytes + double(g.m) * g.n * 2;
  const double transfer = bytes / 2010;  // which work hides but for a part
  return max(busy, transfer) + 0.66 * min(busy, transfer) + max(whole_rounds, 1.0) * detail::clocks_of_end(t) +
         (t.cluster() > 1 ? 800 : 0);
}

/// The number in grouped_tiles of the tile for a product. The device alone knows how long groups are, so they are taken
/// to be of about equal length.
constexpr index_t choose_grouped_tile(const grouped_args& g, bool by_rows, index_t multiprocessors,
                                      index_t element_bytes = 2) {
  index_t best = 1;
  for (index_t i = 0; by_rows && i < grouped_tiles.size(); ++i) {
    if (predict_grouped_clocks(g, grouped_tiles[i], element_bytes, multiprocessors) <
        predict_grouped_clocks(g, grouped_tiles[best], element_bytes, multiprocessors))
      best = i;
  }
  return best;
}

}  // namespace tilewright
