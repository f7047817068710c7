// SPDX-License-Identifier: MIT
// Which tile suits a grouped product on Hopper.
#pragma once

#include <tilewright/gemm/grouped_specialized.hpp>

namespace tilewright {

/// The tiles to choose from.
inline constexpr array<specialized_tile, 3> grouped_tiles{{
    {.m = 128, .n = 256},
    {.m = 128, .n = 256, .share_b = 2},
    {.m = 128, .n = 128, .share_a = 2},
}};

/// The number in grouped_tiles of the tile for a product, as far as the host knows it: groups are taken to be of about
/// equal length. Limits: measured on an H100.
constexpr index_t choose_grouped_tile(const grouped_args& g, bool by_rows, index_t multiprocessors) {
  enum { one, pair, narrow };
  if (!by_rows) return pair;
  const index_t rows = g.m / g.groups;
  if (rows <= 128) return narrow;
  if (rows > 1024) return one;
  // Clusters read B once for two tiles, but leave more idle where there are few of them.
  const auto rounds = [&](const specialized_tile& t) {
    const long_index_t tiles =
        detail::grouped_tile_limit({{.m = g.m, .n = g.n}, g.groups / 2}, true, t.m * t.share_b, t.n * t.share_a);
    return ceil_div(index_t(tiles), multiprocessors / t.cluster());
  };
  const index_t of_pairs = rounds(grouped_tiles[pair]);
  return of_pairs < 5 && rounds(grouped_tiles[one]) < of_pairs ? one : pair;
}

}  // namespace tilewright
