// SPDX-License-Identifier: MIT
// A model of the time that a tile of warp_specialized_pipeline takes for a product.
#pragma once

#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>

namespace tilewright {

/// What a product asks of a tile, besides its lengths.
struct gemm_operand_types {
  index_t element_bytes = 2;                ///< of A and B: 1 or 2
  bool a_along_k = true, b_along_k = true;  ///< contiguous along k, else along m or n
  bool is_block_scaled = false;             ///< of 8 bits with scales for blocks of 128 along k
};

namespace detail {

/// About how many clusters run at the same time: some SMs find no place in clusters of more than two.
constexpr index_t expected_clusters(const hopper_gemm_tile& t, index_t SMs) {
  return max(1, (t.cluster() > 2 ? SMs * 10 / 11 : SMs) * t.blocks / t.cluster());
}

/// Clocks of the model's parts, fitted to times of tiles of the whole family for layers of models and random shapes, of
/// 16 and 8 bits, on H100s and an H200. docs/lab/exact_tiles.md has the fit.
struct hopper_gemm_model {
  double launch = 3180, cluster = 77;          // of a kernel, and more for each block of a cluster
  double mma = 1.198, issue = 19.4;            // of a k tile: times m n / 32, the tensor cores' rate; for each 64 rows
  double scaled = 275, scaled_column = 3.9;    // of 128 rows of a k tile whose products are scaled; for each column
  double scaled_64 = 0.832, scaled_end = 928;  // times that for 64 rows; of a block-scaled tile, instead of `end`
  double one_consumer = 1.034, rows_64 = 1.026;  // times these where a tile has them
  double one_tile = 1.05;  // times a k tile of ping-pong whose workers have one tile, so one consumer
  double latency = 2303, shared_latency = 509;  // a stage is there so long after it was asked for; of a cluster, more
  double load = 1.962, outside = 3.23;          // each row that arrives; each that a block asks for beyond A or B, more
  double straddling = 1.177;                    // times that for rows that begin within 128 bytes of memory
  double shifted_row = 5.47;                    // a row that is shifted to where it should start
  double l2_rows = 30.5, copies = 5.07;  // rows of 128 bytes that L2 sends in a clock; times that it sends one, at most
  double end = 386, ordered = 452;       // 64 columns of C of a consumer; of two consumers one waits
  double partial = 3572;                 // each split of a tile but one, of 128 x 256 partial sums
  double meeting = 1517;                 // where blocks of a launch have parts of a tile, which meet in memory
  double reduction = 1159, reduction_rate = 233;  // the kernel that adds up splits: its start, and floats in a clock
  double bytes = hopper_memory_rate, memory = 347, port = 99;  // of memory in a clock; until they come; of two SMs
  // Without clusters of four, memory is slower by `idle` times the share of SMs without a block, at most by
  // `most_idle`, where a launch overlaps the previous one.
  double idle = 0.31, most_idle = 0.1;
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
  const stream_k_schedule& s;
  bool alone;  // see starts_alone()

  /// Rows of 128 bytes that arrive for a k tile, weighed by what they take.
  constexpr double arriving(const wgmma_operand& o, index_t ld) const {
    const bool straddles = (ld * o.element_bytes) % o.row_bytes != 0 ||
                           (!o.k_is_contiguous && (o.rows * o.element_bytes) % o.row_bytes != 0);
    return double(o.bytes()) / o.row_bytes * (straddles ? hopper_gemm_times.straddling : 1);
  }
  constexpr double arriving_of_a() const { return arriving(lds.a, g.lda); }
  constexpr double arriving_of_b() const { return arriving(lds.b, g.ldb); }
  constexpr double elements(bool of_a) const {
    const index_t batch = (of_a ? g.batch_stride_a : g.batch_stride_b) == 0 ? 1 : g.batch;
    return double(of_a ? g.m : g.n) * g.k * batch;
  }
  constexpr double bytes() const {
    return (elements(true) + elements(false)) * lds.a.element_bytes + 2.0 * g.m * g.n * g.batch;
  }
  /// The last wave has `blocks` of `units` blocks. Two SMs share a port: where some ports serve one block and others
  /// two, the latter end later; in a launch that starts alone, memory is what all wait for.
  constexpr double memory_clocks(double blocks, double units) const {
    const hopper_gemm_model& x = hopper_gemm_times;
    const double ports = SMs / 2.0, of_block = bytes() / units;
    if (alone) return x.memory + max(bytes() / x.bytes, of_block / x.port * (blocks > ports ? 2 : 1));
    const double slower = t.cluster() < 4 ? min(x.most_idle, x.idle * max(0.0, 1 - blocks / SMs)) : 0;
    const double rate = x.bytes * (1 - slower);
    double clocks = x.memory + (bytes() - blocks * of_block) / x.bytes;
    for (const double busy : {min(blocks, ports), blocks - ports})
      if (busy > 0) clocks += max(busy * of_block / rate, of_block / x.port);
    return clocks;
  }
  /// Rows of A and B that L2 sends for a stage of `active` clusters: SMs of a GPC that ask for the same ones share
  /// them.
  constexpr double sent_rows(index_t active) const {
    const double clusters = max(1, active / s.splits);  // of the same k
    const tile_order order = hopper_tile_order(g, t, s.workers);
    const double group = min(order.rows, rows_cached_in_l2(order, g, t, lds.a.element_bytes));
    const double rows = min(double(order.rows), max(min(group, clusters), clusters / order.cols));
    const double cols = min(double(order.cols), clusters / rows);
    // Multicast loads are never merged.
    const auto times = [](double asked, bool merged) {
      return merged ? 1 / p_norm<2>({1 / asked, 1 / hopper_gemm_times.copies}) : asked;
    };
    return active / (rows * cols) *
           (rows * arriving_of_a() * t.cluster_m * times(cols, t.cluster_n == 1) +
            cols * arriving_of_b() * t.cluster_n * times(rows, t.cluster_m == 1));
  }
  /// Of an SM, for a stage, while `active` clusters work.
  constexpr double clocks_of_k_tile(index_t active) const {
    const hopper_gemm_model& x = hopper_gemm_times;
    const index_t together = min(t.blocks, ceil_div(active * t.cluster(), SMs));  // blocks of an SM share its time
    const double kind = (t.consumers == 1 ? x.one_consumer : 1) * (t.m == 64 ? x.rows_64 : 1);
    const double products = lds.scale_bytes > 0 ? (x.scaled + x.scaled_column * t.n) * (t.m == 64 ? x.scaled_64 : 1)
                                                : (t.m * t.n / 32.0 * x.mma + t.m / 64 * x.issue) * kind;
    // In one wave, the tile at the edge ends last.
    const bool one_wave = s.whole_tiles * s.splits <= s.workers;
    const auto outside_of = [&](index_t length, index_t tile) {
      const double all = double(round_up(length, tile) - length);
      return one_wave ? all : all / ceil_div(length, tile);
    };
    const double outside = outside_of(g.m, t.m) / t.cluster_n + outside_of(g.n, t.n) / t.cluster_m;
    const double loads = t.unaligned ? x.shifted_row * (t.m + t.n) + t.m * t.n / 64.0
                                     : x.load * (arriving_of_a() + arriving_of_b()) + x.outside * outside;
    const double latency = x.latency + (t.cluster() > 1 ? x.shared_latency : 0);
    return p_norm<8>(
        {products * together, loads * together, latency / lds.num_stages(), sent_rows(active) / x.l2_rows});
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
                         .result_bytes = 2,
                         .scale_bytes = types.is_block_scaled ? scale_bytes_of(t) : 0},
                        SMs,
                        s,
                        starts_alone(s, t)};
  const index_t units = s.whole_tiles * s.splits, full_rounds = units / s.workers, left = units % s.workers;
  const index_t k_tiles = ceil_div(s.k_tiles, s.splits);
  const double one_tile = t.ping_pong && units <= s.workers ? x.one_tile : 1;
  const double k_tile = p.clocks_of_k_tile(s.workers) * one_tile;
  double products = k_tiles * (full_rounds * k_tile + (left > 0 ? p.clocks_of_k_tile(left) * one_tile : 0));
  double clocks = x.launch + (t.cluster() > 1 ? t.cluster() * x.cluster : 0) + (p.alone ? hopper_launch_gap : 0);
  if (s.splits > 1) clocks += x.reduction + double(s.splits) * g.m * g.n * g.batch / x.reduction_rate;
  if (s.split_workers > 0) {
    products += s.longest_range() * p.clocks_of_k_tile(s.split_workers);
    clocks += x.meeting + x.partial * s.partials_to_move() * t.m * t.n / 32768;
  }
  const index_t ends = full_rounds + (left > 0) + (s.split_workers > 0) + s.ranges_cross_tiles();
  const double end = (types.is_block_scaled ? x.scaled_end : x.end) * t.repeat_m() * t.result_n() / 64 +
                     (t.orders_consumers() ? x.ordered : 0);
  if (t.ping_pong)  // one consumer writes while the other multiplies; where k is short, writing takes longer
    clocks += end + (ends - 1) * max(0.0, end - k_tiles * k_tile);
  else
    clocks += ends * end;
  const double last_blocks = s.split_workers > 0 ? 0 : left * t.cluster();
  return clocks + p_norm<3>({products, p.memory_clocks(last_blocks, max(1, units) * t.cluster())});
}

/// Clocks that a tile takes at least, by the model: those of the tensor cores or of the rows that arrive, and what the
/// splits cost.
constexpr double least_clocks(const gemm_args& g, const hopper_gemm_tile& t, index_t element_bytes, index_t SMs,
                              index_t split_k) {
  const hopper_gemm_model& x = hopper_gemm_times;
  const index_t clusters = ceil_div(g.m, t.m * t.cluster_m) * g.batch * ceil_div(g.n, t.n * t.cluster_n),
                workers = expected_clusters(t, SMs);
  const double kind = (t.consumers == 1 ? min(x.one_consumer, 1.0) : 1) * (t.m == 64 ? min(x.rows_64, 1.0) : 1);
  const double k_tile = max(t.m * t.n / 32.0 * x.mma * kind, x.load * (t.m + t.n));
  const double of_tile = ceil_div(g.k, 128 / element_bytes) * k_tile;
  const double clocks = x.launch + x.end * t.repeat_m() * t.result_n() / 64;
  if (split_k == 1) return clocks + ceil_div(clusters, workers) * of_tile;
  return clocks + double(clusters) / workers * of_tile +
         (split_k == 0 ? x.partial * t.m * t.n / 32768
                       : x.reduction + double(split_k) * g.m * g.n * g.batch / x.reduction_rate);
}

}  // namespace detail

/// Clocks of an SM for the product; rough, to compare tiles.
constexpr double predict_hopper_clocks(const gemm_args& given, const hopper_gemm_tile& t,
                                       const gemm_operand_types& types, index_t SMs, index_t split_k = 0) {
  const gemm_args g = detail::in_order_of(t, given);
  return detail::predict_clocks_of(detail::schedule_of(g, t, types.element_bytes, SMs, split_k), g, t, types, SMs);
}

}  // namespace tilewright
