// SPDX-License-Identifier: MIT
// Block tiles for warp_specialized_pipeline, and which of them suits a product: a model of the time that each takes.
#pragma once

#include <tilewright/gemm/specialized_plan.hpp>

namespace tilewright {

/// The tiles to choose from.
inline constexpr array<specialized_tile, 8> specialized_tiles{{
    {.m = 128, .n = 256, .share_b = 2},
    {.m = 128, .n = 256},
    {.m = 256, .n = 160, .share_a = 2},
    {.m = 192, .n = 192, .share_b = 2, .consumers = 3},
    {.m = 128, .n = 192, .share_b = 2},
    {.m = 128, .n = 128, .share_b = 2},
    {.m = 128, .n = 64, .share_a = 2},
    {.m = 64, .n = 64, .consumers = 1},
}};

/// The policy of one of them.
template <class T, operand_major AMajor, operand_major BMajor, specialized_tile Tile, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct gemm_specialized
    : gemm_policy<arch::sm90, T, AMajor, BMajor, 16 / index_t(sizeof(T)), wgmma_tile<T>(Tile.m, Tile.n, Tile.consumers),
                  warp_specialized_pipeline<cluster_shape{Tile.share_b, Tile.share_a}>> {
  using result_type = Result;
  using epilogue = Epilogue;
};

/// What a product asks of a tile, besides its lengths.
struct product_operand_types {
  index_t element_bytes = 2;
  bool a_along_k = true, b_along_k = true;
};

namespace detail {

/// Rows of 128 bytes that a block fetches for a stage.
constexpr index_t fetched_rows(const specialized_tile& t, const product_operand_types& o) {
  const index_t n = o.b_along_k ? t.n : round_up(t.n, 128 / o.element_bytes);
  return t.m / t.share_a + n / t.share_b;
}

/// About how many clusters run at the same time: some multiprocessors find no place in clusters of more than two.
constexpr index_t expected_clusters(const specialized_tile& t, index_t multiprocessors) {
  return max(1, (t.cluster() > 2 ? multiprocessors * 10 / 11 : multiprocessors) / t.cluster());
}

}  // namespace detail

/// Clocks of a multiprocessor for the product; rough, to compare tiles. Constants: measured on an H100.
constexpr double predict_specialized_clocks(const gemm_args& g, const specialized_tile& t,
                                            const product_operand_types& o, index_t multiprocessors) {
  const index_t k_tiles = ceil_div(g.k, 128 / o.element_bytes), workers = detail::expected_clusters(t, multiprocessors);
  const work_schedule s = detail::make_work_schedule(detail::specialized_order(g, t, workers), k_tiles, workers,
                                                     2 * multiprocessors / t.cluster());
  // The tensor cores do 8192 bits of products a clock; a row takes 2.9 clocks to come,
  // 4.8 if rows begin within cache lines.
  const bool aligned =
      long_index_t(g.lda) * o.element_bytes % 128 == 0 && long_index_t(g.ldb) * o.element_bytes % 128 == 0;
  const double multiply = double(t.m) * t.n / 32 + 24, fetch = detail::fetched_rows(t, o) * (aligned ? 2.9 : 4.8);
  const double k_clocks = multiply > fetch ? multiply : fetch;
  const index_t rounds = ceil_div(s.whole_tiles, workers);
  const double whole = double(rounds) * k_tiles * k_clocks;
  double split = 0;
  if (s.sharers > 0) {
    const double share = double(s.num_split_tiles()) * (k_tiles - s.longer_by) / s.sharers;
    split = (share + s.longer_by + 2 * (s.max_parts() - 1)) * k_clocks;
  }
  const index_t ends = rounds + (s.sharers > 0) + s.shares_cross_tiles();
  // Memory brings about 1600 bytes a clock; a box of C takes 180 clocks that nothing hides.
  const double bytes = (double(g.m) * g.k + double(g.n) * g.k + double(g.m) * g.n) * o.element_bytes * g.batch;
  const double memory = bytes / 1600, busy = whole + split;
  return (busy > memory ? busy : memory) + ends * 180.0 * t.num_boxes() + (s.sharers > 0 ? 4000 : 0) +
         (t.cluster() > 1 ? 2500 : 0);
}

/// The number in specialized_tiles of the tile with the shortest predicted time. Tiles of which rows of C would fill
/// less than half are left out where there are smaller ones.
constexpr index_t choose_specialized_tile(const gemm_args& g, const product_operand_types& o, index_t multiprocessors) {
  index_t best = specialized_tiles.size() - 1;
  double best_clocks = predict_specialized_clocks(g, specialized_tiles[best], o, multiprocessors);
  for (index_t i = 0; i < specialized_tiles.size() - 1 && g.m > 64; ++i) {
    const double clocks = predict_specialized_clocks(g, specialized_tiles[i], o, multiprocessors);
    if (clocks >= best_clocks) continue;
    best = i;
    best_clocks = clocks;
  }
  return best;
}

}  // namespace tilewright
