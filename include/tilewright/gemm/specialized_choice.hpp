// SPDX-License-Identifier: MIT
// Block tiles for warp_specialized_pipeline, and which of them suits a product: a model of the time that each takes.
#pragma once

#include <tilewright/gemm/specialized_plan.hpp>

namespace tilewright {

/// The tiles to choose from.
inline constexpr array<specialized_tile, 17> specialized_tiles{{
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
    {.m = 192, .n = 128, .share_a = 2, .consumers = 3},
    {.m = 128, .n = 128, .share_a = 2},
    {.m = 256, .n = 32, .swap_ab = true},
    {.m = 128, .n = 64, .swap_ab = true},
    {.m = 256, .n = 64, .swap_ab = true},
    {.m = 256, .n = 160, .share_a = 2, .swap_ab = true},
    {.m = 192, .n = 128, .share_a = 2, .consumers = 3, .swap_ab = true},
}};

/// The policy of one of them.
template <class T, operand_major AMajor, operand_major BMajor, specialized_tile Tile, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct gemm_specialized
    : gemm_policy<arch::sm90, T, AMajor, BMajor, 16 / index_t(sizeof(T)), wgmma_tile<T>(Tile.m, Tile.n, Tile.consumers),
                  warp_specialized_pipeline<cluster_shape{Tile.share_b, Tile.share_a, Tile.blocks, Tile.swap_ab}>> {
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

/// Clocks of the model's parts: fitted to times of 500 products drawn by gemm-benchmark, which are predicted to 11 %.
struct specialized_model {
  double macs_of_pair = 31.2, macs_alone = 30.6, more = 74;  // a k tile multiplies in m n / macs + more,
  double large = 1.038;                                      // times that, for more than 128 rows,
  double row = 2.11, row_vectors = 3.13, latency = 2930;   // or waits for its rows, or for one of its stages
  double part = 0.81, split = 1750, part_sums = 70;          // a split tile: k tiles for a part, and clocks
  double crossing_after_whole = 0.22, crossing = 0.13;       // and of all that, if two tiles share a worker
  double end = 153, box = 69, narrow_box = 93;               // a tile's end
  double cluster = 1240;                                     // a launch in clusters
  double bytes = 1890, not_hidden = 0.41;                    // a clock; of the shorter of work and memory
  double read_again = 0.34, crossing_reads = 0.07;           // of the bytes that blocks do not share
};
inline constexpr specialized_model specialized_times{};

/// Clocks of a multiprocessor for a k tile of 128 bytes, of which it fetches `rows`, while `together` of its blocks
/// work.
constexpr double clocks_of_k_tile(const specialized_tile& t, double rows, bool aligned, index_t together,
                                  const product_operand_types& o = {}) {
  const specialized_model& x = specialized_times;
  const double large = t.m > 128 ? x.large : 1,
               multiply = large * double(t.m) * t.n / (t.cluster() > 1 ? x.macs_of_pair : x.macs_alone) + x.more,
               fetch = rows * (aligned ? x.row : x.row_vectors);
  const specialized_lds lds{t, {t.m, o.element_bytes, o.a_along_k}, {t.n, o.element_bytes, o.b_along_k}, 2};
  return max(max(multiply, fetch) * together, x.latency / lds.num_stages());
}
/// Clocks for a change of tiles, and for writing C.
constexpr double clocks_of_end(const specialized_tile& t) {
  const specialized_model& x = specialized_times;
  return x.end + (t.store_n() == 64 ? x.box : x.narrow_box) * t.num_boxes();
}
/// Clocks of `busy` clocks of work and the transfer of `bytes`, which overlap but for a part.
constexpr double clocks_with_memory(double busy, double bytes) {
  const specialized_model& x = specialized_times;
  return max(busy, bytes / x.bytes) + x.not_hidden * min(busy, bytes / x.bytes);
}

/// Bytes of A and B that come from memory: at least each once; tiles that are computed at the same time share them.
constexpr double bytes_of_operands(const gemm_args& g, const specialized_tile& t, const work_schedule& s,
                                   index_t element_bytes) {
  const index_t batches_of_b = g.batch_stride_b == 0 ? 1 : g.batch;
  const double k_bytes = double(g.k) * element_bytes,
               once = (double(g.m) * g.batch + double(g.n) * batches_of_b) * k_bytes;
  const double rows = min(s.order.group, s.order.rows), cols = min(s.workers / rows, double(s.order.cols));
  const double by_rounds =
      ceil_div(s.order.num_tiles(), s.workers) * (rows * t.m * t.share_b + cols * t.n * t.share_a) * k_bytes;
  return once + specialized_times.read_again * max(0.0, by_rounds - once);
}

}  // namespace detail

/// A tile for a product, and whether its last round is split along k.
struct specialized_choice {
  index_t tile = 0;  // in specialized_tiles
  bool splits_k = true;
  double clocks = 0;  // as predicted
};

/// Clocks of a multiprocessor for the product; rough, to compare tiles.
constexpr double predict_specialized_clocks(const gemm_args& given, const specialized_tile& t,
                                            const product_operand_types& types, index_t multiprocessors,
                                            bool splits_k = true) {
  const gemm_args g = detail::in_order_of(t, given);
  const product_operand_types o{types.element_bytes, t.swap_ab ? types.b_along_k : types.a_along_k,
                                t.swap_ab ? types.a_along_k : types.b_along_k};
  const detail::specialized_model& x = detail::specialized_times;
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
  const double k_clocks = detail::clocks_of_k_tile(t, rows, aligned, together, o);
  const index_t rounds = ceil_div(s.whole_tiles, workers);
  const double whole = double(rounds) * k_tiles * k_clocks;
  double split = 0, bytes = detail::bytes_of_operands(g, t, s, o.element_bytes) + 2.0 * g.m * g.n * g.batch;
  if (s.sharers > 0) {
    const double share = double(s.num_split_tiles()) * (k_tiles - s.longer_by) / s.sharers + s.longer_by;
    const index_t parts = s.max_parts() - 1;
    split = (share + x.part * parts) * k_clocks + x.split + x.part_sums * parts * t.m * t.n / 32768;
    // Workers with the ends of two tiles wait for each other; whole tiles before give them different starts.
    const bool crosses = s.shares_cross_tiles();
    split *= s.whole_tiles > 0 ? 1 + x.crossing_after_whole * crosses : 1 + x.crossing * crosses;
    if (crosses) bytes += x.crossing_reads * s.sharers * t.cluster() * share * rows * 128;
  }
  const index_t ends = rounds + (s.sharers > 0) + s.shares_cross_tiles();
  return detail::clocks_with_memory(whole + split, bytes) + ends * together * detail::clocks_of_end(t) +
         (t.cluster() > 1 ? x.cluster : 0);
}

/// The choice with the shortest predicted time. Tiles of which rows of C would fill less than half are left out.
constexpr specialized_choice choose_specialized(const gemm_args& g, const product_operand_types& o,
                                                index_t multiprocessors) {
  specialized_choice best{0, true, 1e300};
  for (index_t i = 0; i < specialized_tiles.size(); ++i) {
    const specialized_tile& t = specialized_tiles[i];
    if (t.m > 64 && (t.swap_ab ? g.n : g.m) <= t.m / 2) continue;
    for (const bool splits_k : {false, true}) {
      const double clocks = predict_specialized_clocks(g, t, o, multiprocessors, splits_k);
      if (clocks < best.clocks) best = {i, splits_k, clocks};
    }
  }
  return best;
}

}  // namespace tilewright
