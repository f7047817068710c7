// SPDX-License-Identifier: MIT
// Block tiles for warp_specialized_pipeline, and which of them suits a product: a model of the time that each takes.
#pragma once

#include <tilewright/gemm/specialized_plan.hpp>

namespace tilewright {

/// The tiles to choose from.
inline constexpr array<specialized_tile, 10> specialized_tiles{{
    {.m = 128, .n = 256, .share_b = 2},
    {.m = 128, .n = 256},
    {.m = 256, .n = 160, .share_a = 2},
    {.m = 192, .n = 192, .share_b = 2, .consumers = 3},
    {.m = 128, .n = 192, .share_b = 2},
    {.m = 128, .n = 128, .share_b = 2},
    {.m = 128, .n = 64, .share_a = 2},
    {.m = 64, .n = 64, .consumers = 1},
    {.m = 64, .n = 64, .consumers = 1, .blocks = 2},
    {.m = 64, .n = 128, .consumers = 1, .blocks = 2},
}};

/// The policy of one of them.
template <class T, operand_major AMajor, operand_major BMajor, specialized_tile Tile, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct gemm_specialized
    : gemm_policy<arch::sm90, T, AMajor, BMajor, 16 / index_t(sizeof(T)), wgmma_tile<T>(Tile.m, Tile.n, Tile.consumers),
                  warp_specialized_pipeline<cluster_shape{Tile.share_b, Tile.share_a, Tile.blocks, Tile.transposes}>> {
  using result_type = Result;
  using epilogue = Epilogue;
};

/// What a product asks of a tile, besides its lengths.
struct product_operand_types {
  index_t element_bytes = 2;
  bool a_along_k = true, b_along_k = true;
};

/// Types and orders of a product's operands; `Epilogue` as in a policy.
template <class T, operand_major AMajor, operand_major BMajor, class Result = T, class Epilogue = epilogue::alpha_beta>
struct gemm_product {
  using element_type = T;
  using result_type = Result;
  using epilogue_type = Epilogue;
  static constexpr operand_major a_major = AMajor, b_major = BMajor;
  static constexpr product_operand_types operands{sizeof(T), AMajor == operand_major::k, BMajor == operand_major::k};
};

namespace detail {

/// Rows of 128 bytes that a block fetches for a stage.
constexpr index_t fetched_rows(const specialized_tile& t, const product_operand_types& o) {
  const index_t n = o.b_along_k ? t.n : round_up(t.n, 128 / o.element_bytes);
  return t.m / t.share_a + n / t.share_b;
}

/// About how many clusters run at the same time: some multiprocessors find no place in clusters of more than two.
constexpr index_t expected_clusters(const specialized_tile& t, index_t multiprocessors) {
  return max(1, (t.cluster() > 2 ? multiprocessors * 10 / 11 : multiprocessors) * t.blocks / t.cluster());
}

// Constants: fitted to times of some 200 products drawn by gemm-benchmark on an H100, which are predicted to 16 %.

/// Clocks of a multiprocessor for a k tile of 128 bytes, of which it fetches `rows`, while `together` of its blocks
/// work. The tensor cores do 8192 bits of products a clock, 2 % fewer if blocks share nothing; a row takes 2.9 clocks
/// to come, 3.2 if rows begin within cache lines; no k tile comes in less than 310 clocks.
constexpr double clocks_of_k_tile(const specialized_tile& t, double rows, bool aligned, index_t together) {
  const double multiply = double(t.m) * t.n / (t.cluster() > 1 ? 31.7 : 31.05) + 24,
               fetch = rows * (aligned ? 2.89 : 3.21);
  return max(max(multiply, fetch) * together, 310.0);
}
/// Of a change of tiles, and of writing C: a box takes 67 clocks, one of fewer than 64 columns 118.
constexpr double clocks_of_end(const specialized_tile& t) {
  return 400 + (t.box_columns() == 64 ? 67.0 * t.store_n() / 64 : 118.0) * t.num_boxes();
}
/// Of `busy` clocks in which memory moves `bytes`: 2300 a clock, at the same time but for a part.
constexpr double clocks_with_memory(double busy, double bytes) {
  return max(busy, bytes / 2300) + 0.41 * min(busy, bytes / 2300);
}

}  // namespace detail

/// A tile for a product, and whether its last round is split along k.
struct specialized_choice {
  index_t tile = 0;  // in specialized_tiles
  bool splits_k = true;
  double clocks = 0;  // as predicted
};

/// Clocks of a multiprocessor for the product; rough, to compare tiles.
constexpr double predict_specialized_clocks(const gemm_args& g, const specialized_tile& t,
                                            const product_operand_types& o, index_t multiprocessors,
                                            bool splits_k = true) {
  if (t.transposes) {
    specialized_tile same = t;
    same.transposes = false;
    return predict_specialized_clocks(detail::as_multiplied(g, t), same, {o.element_bytes, o.b_along_k, o.a_along_k},
                                      multiprocessors, splits_k);
  }
  const index_t k_tiles = ceil_div(g.k, 128 / o.element_bytes), workers = detail::expected_clusters(t, multiprocessors);
  const index_t max_parts = splits_k ? index_t(specialized_workspace::num_floats / (t.m * t.n * t.cluster())) : 0;
  const work_schedule s =
      detail::make_work_schedule(detail::specialized_order(g, t, workers), k_tiles, workers, max_parts);
  // Rows that A and B do not have are not fetched. Blocks of a multiprocessor share its time.
  const bool aligned =
      long_index_t(g.lda) * o.element_bytes % 128 == 0 && long_index_t(g.ldb) * o.element_bytes % 128 == 0;
  const double rows =
      detail::fetched_rows(t, o) - double(t.m - min(t.m, g.m)) / t.share_a - double(t.n - min(t.n, g.n)) / t.share_b;
  const index_t together = min(t.blocks, ceil_div(min(s.num_units(), workers) * t.cluster(), multiprocessors));
  const double k_clocks = detail::clocks_of_k_tile(t, rows, aligned, together);
  const index_t rounds = ceil_div(s.whole_tiles, workers);
  const double whole = double(rounds) * k_tiles * k_clocks;
  double split = 0;
  if (s.sharers > 0) {
    const double share = double(s.num_split_tiles()) * (k_tiles - s.longer_by) / s.sharers + s.longer_by;
    const index_t parts = s.max_parts() - 1;
    split = (share + 2 * parts) * k_clocks + 1850 + 114.0 * parts * t.m * t.n / 32768;
    // Workers with the ends of two tiles wait for each other; whole tiles before give them different starts.
    split *= s.whole_tiles > 0 ? 1 + 0.1 * s.shares_cross_tiles() : 1.04 + 0.42 * s.shares_cross_tiles();
  }
  const index_t ends = rounds + (s.sharers > 0) + s.shares_cross_tiles();
  const index_t batches_of_b = g.batch_stride_b == 0 ? 1 : g.batch;
  const double bytes = (double(g.m) * g.k * g.batch + double(g.n) * g.k * batches_of_b) * o.element_bytes +
                       double(g.m) * g.n * 2 * g.batch;
  return detail::clocks_with_memory(whole + split, bytes) + ends * together * detail::clocks_of_end(t) +
         (t.cluster() > 1 ? 800 : 0);
}

/// The choice with the shortest predicted time. Tiles of which rows of C would fill less than half are left out.
constexpr specialized_choice choose_specialized(const gemm_args& g, const product_operand_types& o,
                                                index_t multiprocessors) {
  specialized_choice best{0, true, 1e300};
  for (index_t i = 0; i < specialized_tiles.size(); ++i) {
    const specialized_tile& t = specialized_tiles[i];
    if (t.m > 64 && (t.transposes ? g.n : g.m) <= t.m / 2) continue;
    for (const bool splits_k : {false, true}) {
      const double clocks = predict_specialized_clocks(g, t, o, multiprocessors, splits_k);
      if (clocks < best.clocks) best = {i, splits_k, clocks};
    }
  }
  return best;
}

}  // namespace tilewright
