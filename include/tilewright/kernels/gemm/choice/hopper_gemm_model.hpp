// SPDX-License-Identifier: MIT
// A model of the time that a tile of warp_specialized_pipeline takes for a product.
#pragma once

#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>

namespace tilewright {

/// What a product asks of a tile, besides its lengths.
struct gemm_operand_types {
  index_t element_bytes = 2;                ///< of A and B: 1 or 2
  bool a_along_k = true, b_along_k = true;  ///< contiguous along k, else along m or n
};

namespace detail {

/// About how many clusters run at the same time: some SMs find no place in clusters of more than two.
constexpr index_t expected_clusters(const hopper_gemm_tile& t, index_t SMs) {
  return max(1, (t.cluster() > 2 ? SMs * 10 / 11 : SMs) * t.blocks / t.cluster());
}

/// Clocks of the model's parts, fitted to times of tiles of the whole family for layers of models and random shapes, of
/// 16 and 8 bits. docs/lab/performance.md has the fit.
struct hopper_gemm_model {
  double launch = 2521, cluster = 162;  // of a kernel, and more for each block of a cluster
  double mma = 0.949, issue = 16.7;     // of a k tile: times m n / 32, the tensor cores' rate; for each 64 rows
  double one_consumer = 0.905, ping_pong = 0.96, rows_64 = 1.067;  // times these where a tile has them
  double latency = 2104;                                           // a stage is there so long after it was asked for
  double load = 2.19, loads = 9.7;      // each row of A and B that a block loads; the loads of a stage
  double shifted_row = 5.47;            // a row that is shifted to where it should start
  double l2_rows = 43.2;                // of 128 bytes in a clock, for all SMs ...
  double not_merged = 0.34;             // ... and the share of rows that blocks load in vain: others load them, too
  double lockstep = 0.117;              // more where blocks of a cluster wait for each other's rows from memory
  double end = 290;                     // each box of C of a consumer
  double partial = 4346;                // each split of a tile but one, of 128 x 256 partial sums
  double crossing = 0.254;              // of a split tile's clocks more, if two tiles share a worker
  double sums = 1408, sums_rate = 307;  // the kernel that adds up splits: its start, and floats in a clock
  double bytes = 1779, memory = 538;    // of memory in a clock; until they come
};
inline constexpr hopper_gemm_model hopper_gemm_times{};

/// (x[0]^P + x[1]^P + ...)^(1/P): the longest of times that overlap, and more where others are about as long.
template <index_t P, index_t N>
constexpr double p_norm(const double (&x)[N]) {
  double longest = x[0];
  for (const double e : x) longest = max(longest, e);
  const auto power = [](double base) {
    double y = 1;
    for (index_t i = 1; i < P; ++i) y *= base;
    return y;  // base^(P - 1)
  };
  double sum = 0;
  for (const double e : x) sum += power(e / longest) * e / longest;
  double root = 1 + (sum - 1) / P;  // not less than the root of 1 <= sum <= N, from where Newton's steps go down
  for (index_t i = 0; i < 6; ++i) root -= (power(root) * root - sum) / (P * power(root));
  return longest * root;
}

/// The schedule of a product whose operands are in the order of the tile; parts: as in gemm_choice.
constexpr stream_k_schedule schedule_of(const gemm_args& g, const hopper_gemm_tile& t, index_t element_bytes,
                                        index_t SMs, index_t split_k) {
  const index_t workers = expected_clusters(t, SMs);
  const index_t max_slots = split_k == 0 ? index_t(hopper_gemm_workspace::num_floats / (t.m * t.n * t.cluster())) : 0;
  stream_k_schedule s = make_stream_k_schedule(hopper_tile_order(g, t, workers), ceil_div(g.k, 128 / element_bytes),
                                               workers, max_slots, split_cost_of(t));
  s.splits = max(split_k, 1);
  return s;
}

/// A product as the model sees it: operands in the order of the tile.
struct modelled_gemm {
  const gemm_args& g;
  const hopper_gemm_tile& t;
  hopper_gemm_lds lds;
  index_t SMs;

  constexpr double elements(bool of_a) const {
    const index_t batch = (of_a ? g.batch_stride_a : g.batch_stride_b) == 0 ? 1 : g.batch;
    return double(of_a ? g.m : g.n) * g.k * batch;
  }
  constexpr double memory_clocks() const {
    const double bytes = (elements(true) + elements(false)) * lds.a.element_bytes + 2.0 * g.m * g.n * g.batch;
    return hopper_gemm_times.memory + bytes / hopper_gemm_times.bytes;
  }
  /// At most 1: of the time for arithmetic, what memory takes.
  constexpr double memory_share() const {
    const double stages = double(g.k) / lds.a.k() * g.batch;
    return min(1.0, memory_clocks() / (double(g.m) * g.n / 32 * stages / SMs));
  }
  /// More than 1 where the blocks of a cluster load rows of the larger operand that each needs alone.
  constexpr double lockstep() const {
    const double a = double(g.m) / (double(g.m) + g.n);
    const double alone = (t.cluster_m > 1 ? a : 0) + (t.cluster_n > 1 ? 1 - a : 0);
    return 1 + hopper_gemm_times.lockstep * alone * memory_share();
  }
  /// Of an SM, for a stage, while `active` clusters work.
  constexpr double clocks_of_k_tile(index_t active) const {
    const hopper_gemm_model& x = hopper_gemm_times;
    const index_t together = min(t.blocks, ceil_div(active * t.cluster(), SMs));  // blocks of an SM share its time
    const double kind = (t.ping_pong        ? x.ping_pong
                         : t.consumers == 1 ? x.one_consumer
                                            : 1) *
                        (t.m == 64 ? x.rows_64 : 1);
    const double rows = double(t.m) / t.cluster_n + double(t.n) / t.cluster_m,
                 in_l2 = x.not_merged * (t.m + t.n) + (1 - x.not_merged) * rows;
    const double loads = t.unaligned ? x.shifted_row * (t.m + t.n) + t.m * t.n / 64.0 : x.load * rows + x.loads;
    return p_norm<8>({(t.m * t.n / 32.0 * x.mma + t.m / 64 * x.issue) * kind * together, loads * together,
                      x.latency / lds.num_stages(), active * t.cluster() * in_l2 / x.l2_rows});
  }
};

/// Clocks of an SM for a schedule of the product.
constexpr double predict_clocks_of(const stream_k_schedule& s, const gemm_args& g, const hopper_gemm_tile& t,
                                   const gemm_operand_types& types, index_t SMs) {
  const hopper_gemm_model& x = hopper_gemm_times;
  const index_t bytes = types.element_bytes;
  const modelled_gemm p{g,
                        t,
                        {.tile = t,
                         .a = {t.m, bytes, t.swap_ab ? types.b_along_k : types.a_along_k},
                         .b = {t.n, bytes, t.swap_ab ? types.a_along_k : types.b_along_k},
                         .result_bytes = 2},
                        SMs};
  const index_t units = s.whole_tiles * s.splits, full_rounds = units / s.workers, left = units % s.workers;
  const index_t k_tiles = ceil_div(s.k_tiles, s.splits);
  const double k_tile = p.clocks_of_k_tile(s.workers);
  double products = k_tiles * (full_rounds * k_tile + (left > 0 ? p.clocks_of_k_tile(left) : 0));
  double clocks = x.launch + (t.cluster() > 1 ? t.cluster() * x.cluster : 0);
  if (s.splits > 1) clocks += x.sums + double(s.splits) * g.m * g.n * g.batch / x.sums_rate;
  const bool crosses = s.ranges_cross_tiles();
  if (s.split_workers > 0) {
    const double more = crosses ? 1 + x.crossing : 1;
    products += s.longest_range() * p.clocks_of_k_tile(s.split_workers) * more;
    clocks += x.partial * s.partials_to_move() * t.m * t.n / 32768 * more;
  }
  const index_t ends = full_rounds + (left > 0) + (s.split_workers > 0) + crosses;
  const double end = x.end * t.boxes_per_consumer();
  if (t.ping_pong)  // one consumer writes while the other multiplies; where k is short, writing takes longer
    clocks += end + (ends - 1) * max(0.0, end - k_tiles * k_tile);
  else
    clocks += ends * end;
  return clocks + p_norm<3>({products * p.lockstep(), p.memory_clocks()});
}

}  // namespace detail

/// Clocks of an SM for the product; rough, to compare tiles.
constexpr double predict_hopper_clocks(const gemm_args& given, const hopper_gemm_tile& t,
                                       const gemm_operand_types& types, index_t SMs, index_t split_k = 0) {
  const gemm_args g = detail::in_order_of(t, given);
  return detail::predict_clocks_of(detail::schedule_of(g, t, types.element_bytes, SMs, split_k), g, t, types, SMs);
}

}  // namespace tilewright
