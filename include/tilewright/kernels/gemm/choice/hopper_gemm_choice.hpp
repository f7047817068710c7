// SPDX-License-Identifier: MIT
// Block tiles for warp_specialized_pipeline, and which of them suits a product: a model of the time that each takes.
#pragma once

#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>

namespace tilewright {

/// The tiles to choose from.
inline constexpr array<hopper_gemm_tile, 24> hopper_gemm_tiles{{
    {.m = 128, .n = 256, .cluster_m = 2},
    {.m = 128, .n = 256},
    {.m = 128, .n = 176, .cluster_m = 2, .ping_pong = true},
    {.m = 128, .n = 192, .cluster_m = 2},
    {.m = 128, .n = 112, .cluster_n = 4},
    {.m = 192, .n = 128, .cluster_n = 2, .ping_pong = true},
    {.m = 64, .n = 64, .consumers = 1},
    {.m = 64, .n = 96, .consumers = 1},
    {.m = 128, .n = 160, .cluster_n = 2, .swap_ab = true, .ping_pong = true},
    {.m = 128, .n = 176, .cluster_m = 2},
    {.m = 128, .n = 176, .cluster_n = 2, .ping_pong = true},
    {.m = 128, .n = 160, .cluster_m = 4, .cluster_n = 2},
    {.m = 128, .n = 128, .cluster_n = 2},
    {.m = 128, .n = 208, .cluster_m = 2},
    {.m = 128, .n = 224, .cluster_m = 2},
    {.m = 128, .n = 80, .cluster_n = 4},
    {.m = 64, .n = 96, .cluster_n = 4, .consumers = 1},
    {.m = 64, .n = 96, .cluster_m = 4, .consumers = 1, .swap_ab = true},
    {.m = 64, .n = 128, .cluster_m = 4, .consumers = 1, .swap_ab = true},
    {.m = 128, .n = 64, .swap_ab = true},
    {.m = 256, .n = 32, .swap_ab = true},
    {.m = 128, .n = 128, .unaligned = true},
    {.m = 64, .n = 128, .consumers = 1, .unaligned = true},
    {.m = 64, .n = 64, .consumers = 1, .unaligned = true},
}};

/// The policy of one of them.
template <class T, operand_major AMajor, operand_major BMajor, hopper_gemm_tile Tile, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct gemm_hopper
    : gemm_policy<arch::sm90, T, AMajor, BMajor, 16 / index_t(sizeof(T)),
                  wgmma_tile<T>(Tile.m, Tile.n, Tile.consumers_per_tile()), warp_specialized_pipeline<Tile>> {
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

/// About how many clusters run at the same time: some SMs find no place in clusters of more than two.
constexpr index_t expected_clusters(const hopper_gemm_tile& t, index_t SMs) {
  return max(1, (t.cluster() > 2 ? SMs * 10 / 11 : SMs) * t.blocks / t.cluster());
}

/// Clocks of the model's parts, fitted to times of all tiles for drawn products. A k tile takes what wgmma and
/// LDS take together, at least the latency of memory divided by the stages, and in addition what L2 takes.
struct hopper_gemm_model {
  double launch = 3200;
  double macs = 62.2, row = 0.871;      // of a k tile: m n / macs, and each row of A and B that reaches LDS,
  double shifted_row = 5.47;            // or is shifted to where it should start;
  double latency = 2640;                // a stage is there so long after it was asked for
  double rows = 104;                    // of 128 bytes from L2 in a clock, for all SMs
  double bytes = 2600;                  // of memory in a clock
  double ping_pong = 1.07;              // times the clocks of k tiles, where consumers take turns with tiles
  double part_sums = 4570;              // each part of a split tile but one, of 128 x 256 sums
  double crossing = 0.319;              // of a split tile's clocks more, if two tiles share a worker
  double end = 277;                     // each box of C
  double sums = 2740, sums_rate = 154;  // the kernel that adds up parts: its start, and floats in a clock
};
inline constexpr hopper_gemm_model hopper_gemm_times{};

/// Clocks of an SM for a k tile of 128 bytes, while `together` of its blocks work; without those of L2.
constexpr double clocks_of_k_tile(const hopper_gemm_tile& t, index_t together, const product_operand_types& o) {
  const hopper_gemm_model& x = hopper_gemm_times;
  const hopper_gemm_lds lds{t, {t.m, o.element_bytes, o.a_along_k}, {t.n, o.element_bytes, o.b_along_k}, 2};
  const double one = t.m * t.n / x.macs + (t.m + t.n) * (t.unaligned ? x.shifted_row : x.row);
  return max(one * together, x.latency / lds.num_stages());
}

}  // namespace detail

/// A tile for a product, and into how many parts k is split: 1: not at all; more: that of every tile, and another
/// kernel adds them up; 0: that of the last round's tiles, so that all blocks have a share (stream-K).
struct hopper_gemm_choice {
  hopper_gemm_tile tile = {};
  index_t parts = 0;
  double clocks = 0;  // as predicted
};

namespace detail {

/// The schedule of a product whose operands are in the order of the tile; parts: as in hopper_gemm_choice.
constexpr stream_k_schedule schedule_of(const gemm_args& g, const hopper_gemm_tile& t, index_t element_bytes,
                                        index_t SMs, index_t parts) {
  const index_t workers = expected_clusters(t, SMs);
  const index_t max_slots = parts == 0 ? index_t(hopper_gemm_workspace::num_floats / (t.m * t.n * t.cluster())) : 0;
  stream_k_schedule s = make_stream_k_schedule(hopper_tile_order(g, t, workers), ceil_div(g.k, 128 / element_bytes),
                                               workers, max_slots, split_cost_of(t));
  s.splits = max(parts, 1);
  return s;
}

/// Clocks of an SM for it.
constexpr double predict_clocks_of(const stream_k_schedule& s, const gemm_args& g, const hopper_gemm_tile& t,
                                   const product_operand_types& types, index_t SMs) {
  const hopper_gemm_model& x = hopper_gemm_times;
  const product_operand_types o{types.element_bytes, t.swap_ab ? types.b_along_k : types.a_along_k,
                                t.swap_ab ? types.a_along_k : types.b_along_k};
  const double bytes =
      (double(g.m) * (g.batch_stride_a == 0 ? 1 : g.batch) + double(g.n) * (g.batch_stride_b == 0 ? 1 : g.batch)) *
          g.k * o.element_bytes +
      2.0 * g.m * g.n * g.batch;
  const double l2_clocks = t.cluster() * (double(t.m) / t.cluster_n + double(t.n) / t.cluster_m) / x.rows;
  // Blocks of an SM share its time.
  const auto together = [&](index_t active) { return min(t.blocks, ceil_div(active * t.cluster(), SMs)); };
  const auto k_tile_while = [&](index_t active) {
    return clocks_of_k_tile(t, together(active), o) + active * l2_clocks;
  };
  const index_t units = s.whole_tiles * s.splits, full_rounds = units / s.workers, left = units % s.workers;
  const index_t k_tiles = ceil_div(s.k_tiles, s.splits);
  double products = k_tiles * (full_rounds * k_tile_while(s.workers) + (left > 0 ? k_tile_while(left) : 0));
  double clocks = x.launch;
  if (s.splits > 1) clocks += x.sums + double(s.splits) * g.m * g.n * g.batch / x.sums_rate;
  const bool crosses = s.ranges_cross_tiles();
  if (s.split_workers > 0) {
    const double more = crosses ? 1 + x.crossing : 1;
    products += s.longest_range() * k_tile_while(s.split_workers) * more;
    clocks += x.part_sums * s.partials_to_move() * t.m * t.n / 32768 * more;
  }
  const index_t ends = full_rounds + (left > 0) + (s.split_workers > 0) + crosses;
  const double end = together(min(s.num_work_tiles(), s.workers)) * x.end * t.num_boxes();
  if (t.ping_pong) {  // one consumer writes while the other multiplies; where k is short, writing takes longer
    products *= x.ping_pong;
    clocks += end + (ends - 1) * max(0.0, end - k_tiles * k_tile_while(s.workers));
  } else {
    clocks += ends * end;
  }
  // Memory hides behind the k tiles, or the other way around, but not where they take about as long.
  const double memory = bytes / x.bytes, longer = max(products, memory), ratio = min(products, memory) / longer;
  return clocks + longer * (1 + ratio * ratio * ratio / 4);
}

}  // namespace detail

/// Clocks of an SM for the product; rough, to compare tiles.
constexpr double predict_hopper_clocks(const gemm_args& given, const hopper_gemm_tile& t,
                                       const product_operand_types& types, index_t SMs, index_t parts = 0) {
  const gemm_args g = detail::in_order_of(t, given);
  return detail::predict_clocks_of(detail::schedule_of(g, t, types.element_bytes, SMs, parts), g, t, types, SMs);
}

/// Calls consider(choice) for each tile and way to split k, for up to `most_parts` parts, at least 1. Tiles of which
/// rows of C would fill less than half are left out, and parts that are too short or that the workspace has no room
/// for.
template <class Function>
constexpr void for_each_hopper_kernel(const gemm_args& given, const product_operand_types& types, index_t SMs,
                                      index_t most_parts, Function consider) {
  for (const hopper_gemm_tile& t : hopper_gemm_tiles) {
    const gemm_args g = detail::in_order_of(t, given);
    if (t.m > 64 && g.m <= t.m / 2) continue;
    for (index_t parts = 0; parts <= (t.unaligned || t.ping_pong ? 1 : most_parts); ++parts) {
      const stream_k_schedule s = detail::schedule_of(g, t, types.element_bytes, SMs, parts);
      if (parts == 0 && s.split_workers == 0) continue;  // nothing to split: as with one part
      const double floats = 16.0 * ceil_div(given.n, 16) * given.m * given.batch * parts;  // as of a copy of C
      if (parts > 1 && (s.k_tiles < 4 * parts || s.whole_tiles * (parts - 1) > 2 * s.workers ||
                        floats > hopper_gemm_workspace::num_floats || given.batch > 65535))
        break;
      consider(hopper_gemm_choice{t, parts, detail::predict_clocks_of(s, g, t, types, SMs)});
    }
  }
}

/// Calls consider(parts, clocks) for the ways in which small_m_gemm splits k: parts as in hopper_gemm_choice. Clocks
/// are fitted to the same products: those of the bytes of B, or of tiles one after another. If k is whole, a block
/// waits for each of its loads; else parts of a tile are added up.
template <class Function>
constexpr void for_each_small_m_kernel(const gemm_args& g, bool moves_vectors, index_t SMs, Function consider) {
  const double bytes = 2.0 * g.n * g.k * g.batch / (moves_vectors ? 2360 : 1590);
  const long_index_t tiles = long_index_t(ceil_div(g.n, 64)) * g.batch, blocks = 2 * SMs;
  const double of_block = double(tiles) / double(blocks);
  consider(1, 5740 + max(bytes, double(ceil_div(tiles, blocks)) * g.k * (moves_vectors ? 6.6 : 19.8)));
  if (g.workspace)
    consider(0, (moves_vectors ? 6660 : 8990) + max(bytes, 704 * of_block) + 81 * min(1 / of_block, g.k / 256.0));
}

}  // namespace tilewright
