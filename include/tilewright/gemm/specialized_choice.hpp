// SPDX-License-Identifier: MIT
// Block tiles for warp_specialized_pipeline, and which of them suits a product: a model of the time that each takes.
#pragma once

#include <tilewright/gemm/specialized_plan.hpp>

namespace tilewright {

/// The tiles to choose from.
inline constexpr array<specialized_tile, 24> specialized_tiles{{
    {.m = 128, .n = 256, .share_b = 2},
    {.m = 128, .n = 256},
    {.m = 128, .n = 176, .share_b = 2, .ping_pong = true},
    {.m = 128, .n = 192, .share_b = 2},
    {.m = 128, .n = 112, .share_a = 4},
    {.m = 256, .n = 112, .share_a = 2},
    {.m = 64, .n = 64, .consumers = 1},
    {.m = 64, .n = 96, .consumers = 1},
    {.m = 64, .n = 192, .consumers = 1},
    {.m = 128, .n = 160, .share_a = 2, .swap_ab = true, .ping_pong = true},
    {.m = 128, .n = 176, .share_b = 2},
    {.m = 128, .n = 176, .share_a = 2, .ping_pong = true},
    {.m = 128, .n = 112, .share_b = 2, .ping_pong = true},
    {.m = 128, .n = 160, .share_b = 4, .share_a = 2},
    {.m = 128, .n = 128, .share_b = 4, .share_a = 2},
    {.m = 128, .n = 128, .share_a = 4},
    {.m = 128, .n = 96, .share_a = 4},
    {.m = 128, .n = 80, .share_a = 4},
    {.m = 64, .n = 96, .share_a = 4, .consumers = 1},
    {.m = 64, .n = 192, .consumers = 1, .swap_ab = true},
    {.m = 64, .n = 96, .share_b = 4, .consumers = 1, .swap_ab = true},
    {.m = 64, .n = 128, .share_b = 4, .consumers = 1, .swap_ab = true},
    {.m = 128, .n = 64, .swap_ab = true},
    {.m = 256, .n = 32, .swap_ab = true},
}};

/// The policy of one of them.
template <class T, operand_major AMajor, operand_major BMajor, specialized_tile Tile, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct gemm_specialized
    : gemm_policy<arch::sm90, T, AMajor, BMajor, 16 / index_t(sizeof(T)), wgmma_tile<T>(Tile.m, Tile.n, Tile.sharing()),
                  warp_specialized_pipeline<cluster_shape{Tile.share_b, Tile.share_a, Tile.blocks, Tile.swap_ab,
                                                          Tile.ping_pong, Tile.any_start}>> {
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

/// About how many clusters run at the same time: some multiprocessors find no place in clusters of more than two.
constexpr index_t expected_clusters(const specialized_tile& t, index_t multiprocessors) {
  return max(1, (t.cluster() > 2 ? multiprocessors * 10 / 11 : multiprocessors) * t.blocks / t.cluster());
}

/// Clocks of the model's parts, fitted to times of all tiles for products drawn by gemm-benchmark. What a k tile takes
/// of each is added up, since they disturb each other.
struct specialized_model {
  double launch = 4016;
  double macs = 35.7, lds_row = 0.813;  // a k tile multiplies in m n / macs, or moves its rows in LDS,
  double large = 1.09,
         single_in_pair = 1.12;     // times these, for 160 sums of each thread; for one consumer in a cluster,
  double latency = 1872;            // or waits for one of its stages;
  double bytes = 7330, rows = 123;  // of memory, of 128 bytes from L2: in a clock, for all multiprocessors
  double part_sums = 3208;          // each part of a split tile but one, of 128 x 256 sums
  double crossing = 0.21;           // of a split tile's clocks more, if two tiles share a worker
  double end = 111;                 // each box of C
};
inline constexpr specialized_model specialized_times{};

/// Clocks of a multiprocessor for a k tile of 128 bytes that is there, while `together` of its blocks work.
constexpr double clocks_of_k_tile(const specialized_tile& t, index_t together, const product_operand_types& o = {}) {
  const specialized_model& x = specialized_times;
  const specialized_lds lds{t, {t.m, o.element_bytes, o.a_along_k}, {t.n, o.element_bytes, o.b_along_k}, 2};
  // Copies write A and B; wgmma reads A once, and B for each 64 rows of A.
  const double rows = lds.stage_bytes() / 128.0 + t.m + t.n * (t.m / 64.0);
  const double multiply = t.m * t.n / x.macs * (t.accumulators() > 128 && !t.ping_pong ? x.large : 1),
               move = rows * x.lds_row * (t.cluster() > 1 && t.consumers == 1 ? x.single_in_pair : 1);
  return max(max(multiply, move) * together, x.latency / lds.num_stages());
}
/// Clocks for writing C.
constexpr double clocks_of_end(const specialized_tile& t) { return specialized_times.end * t.num_boxes(); }

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
  const work_schedule s = detail::make_work_schedule(detail::specialized_order(g, t, workers), k_tiles, workers,
                                                     max_parts, detail::split_cost_of(t));
  const double bytes =
      (double(g.m) * (g.batch_stride_a == 0 ? 1 : g.batch) + double(g.n) * (g.batch_stride_b == 0 ? 1 : g.batch)) *
      g.k * o.element_bytes;
  // What comes from memory and from L2 for a k tile of each cluster.
  const double clocks_of_operands = bytes / (double(s.order.num_tiles()) * k_tiles * x.bytes) +
                                    t.cluster() * (t.m / t.share_a + t.n / t.share_b) / x.rows;
  // Blocks of a multiprocessor share its time.
  const auto together = [&](index_t active) { return min(t.blocks, ceil_div(active * t.cluster(), multiprocessors)); };
  const auto k_tile_while = [&](index_t active) {
    return detail::clocks_of_k_tile(t, together(active), o) + active * clocks_of_operands;
  };
  const index_t full_rounds = s.whole_tiles / workers, left = s.whole_tiles % workers;
  double clocks = x.launch + k_tiles * (full_rounds * k_tile_while(workers) + (left > 0 ? k_tile_while(left) : 0));
  const bool crosses = s.shares_cross_tiles();
  if (s.sharers > 0) {
    const double share = double(s.num_split_tiles()) * (k_tiles - s.longer_by) / s.sharers + s.longer_by;
    const index_t parts = s.max_parts() - 1;
    const double split = share * k_tile_while(s.sharers) + x.part_sums * parts * t.m * t.n / 32768;
    clocks += split * (crosses ? 1 + x.crossing : 1);
  }
  // Where k is short, writing takes longer than the other consumer multiplies.
  const index_t ends = t.ping_pong && k_tiles > 4 ? 1 : full_rounds + (left > 0) + (s.sharers > 0) + crosses;
  // One consumer after the other waits for stages, which shows where a block has few tiles.
  return (clocks + ends * together(min(s.num_units(), workers)) * detail::clocks_of_end(t)) *
         (t.ping_pong && full_rounds < 2 ? x.large : 1);
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
