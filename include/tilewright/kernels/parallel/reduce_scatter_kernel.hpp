// SPDX-License-Identifier: MIT
// The product of parts of k on several GPUs: tiles go to the GPU that owns their rows, which adds them up and finishes.
#pragma once

#include <tilewright/kernels/parallel/rank_block.hpp>

namespace tilewright::parallel {

namespace detail {

template <class Args>
struct reduce_scatter_device_args : hopper_gemm_device_args<Args, 1> {
  exec::tensor_map sums, received;
  index_t tile_cols;  // tiles of a row of C, flags of a row of tiles
  index_t lead;       // k tiles between additions of others' sums, and after the last one
};

/// A rank_block that begins with the rows of the next rank and ends with its own. Its sender pushes tiles to the ranks
/// that own their rows.
template <class Policy>
struct reduce_scatter_block : rank_block<Policy, reduce_scatter_args> {
  using base = rank_block<Policy, reduce_scatter_args>;
  using device_args = reduce_scatter_device_args<reduce_scatter_args>;
  static constexpr bool sends_tiles = true;

  TILEWRIGHT_HD static chunk_unit unit_of(const device_args& d, index_t u) {
    work_tile unit = d.schedule(u);
    unit.tile.batch = d.args.self.after(d.args.steps.first + unit.tile.batch + 1);
    return {unit, unit.tile.batch};
  }
#if TILEWRIGHT_HOPPER_PASS
  static constexpr index_t tile_m = base::tile.m, tile_n = base::tile.n;
  static constexpr index_t result_bytes = sizeof(typename Policy::result_type);

  TILEWRIGHT_HD static bool is_own(const reduce_scatter_args& args, index_t owner) { return owner == args.self.rank; }
  /// How many other GPUs' sums are added to a unit; their ranks, of which those that come last have low numbers. 0:
  /// none.
  TILEWRIGHT_HD static index_t sources(const reduce_scatter_args& args, const chunk_unit& unit) {
    return is_own(args, unit.tile.batch) && unit.is_last_split() ? args.self.ranks - 1 : 0;
  }
  TILEWRIGHT_HD static index_t source(const reduce_scatter_args& args, index_t i) {
    if (i == 0) return -1;
    const index_t rank = args.self.ranks - 1 - i;
    return rank < args.self.rank ? rank : rank + 1;
  }
  /// The k tile before which a consumer adds the sums of source i. Consumers that take turns add one after the other.
  TILEWRIGHT_HD static index_t add_at(const device_args& d, const chunk_unit& unit, index_t i, index_t consumer) {
    const index_t number = base::tile.orders_consumers() ? 2 * i - consumer : i;
    return max(unit.k_begin + 1, unit.k_end - number * d.lead);
  }
  /// Until a rank has sent its sums of the tile.
  TILEWRIGHT_HD static void wait_for_sums(const device_args& d, const box_use& box) {
    if (!d.args.arrived || box.m >= d.args.m || box.n >= d.args.n) return;  // they are there, or there are none
    wait_for_peer(d.args.arrived + box.source * d.args.num_flags + flag_of(d, box.m, box.n), d.args.epoch, d.args.wait);
  }

  /// A flag of the tile that has element (m, n).
  TILEWRIGHT_HD static index_t flag_of(const device_args& d, index_t m, index_t n) {
    return divide(m, tile_m) * d.tile_cols + divide(n, tile_n);
  }

  /// Whether tiles of the rows of `owner` are kept in memory for others: sums, or all rows of an all-reduce.
  TILEWRIGHT_HD static bool keeps_tile(const reduce_scatter_args& args, index_t owner) {
    return !is_own(args, owner) || args.c_of[args.self.after(1)];
  }
  /// Rows there from element (m, n) of the rows of `owner` on, at most `rows` of at most `cols` elements.
  TILEWRIGHT_HD static row_span kept(const reduce_scatter_args& args, index_t owner, index_t m, index_t n, index_t rows,
                                     index_t cols) {
    const bool own = is_own(args, owner);
    const long_index_t stride = long_index_t(own ? args.ldc : args.n) * result_bytes;
    char* const first = own ? static_cast<char*>(args.c) : static_cast<char*>(args.sums) + owner * args.chunk_bytes;
    return {first + m * stride + n * result_bytes, stride, min(rows, args.m - m), min(cols, args.n - n) * result_bytes};
  }
  TILEWRIGHT_HD static box_source<exec::tensor_map> target(const device_args& d, const box_use& box) {
    const bool own = is_own(d.args, box.z);
    return {own ? d.c : d.sums, own ? 0 : box.z};
  }
  /// When all boxes of a tile are there.
  TILEWRIGHT_HD static void report_tile(const device_args& d, const box_use& box) {
    if (d.args.arrived && keeps_tile(d.args, box.z))
      exec::add_release(d.args.finished + box.z * d.args.num_flags + flag_of(d, box.m, box.n), 1);
  }

  /// One wave: tiles that are finished.
  template <class ForEachUnit>
  TILEWRIGHT_HD static void send(const device_args& d, ForEachUnit for_each_unit) {
    const reduce_scatter_args& args = d.args;
    if (!args.arrived) return;
    for_each_unit([&](const chunk_unit& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      const index_t owner = unit.tile.batch, flag = flag_of(d, m0, n0);
      if (!unit.is_last_split() || !keeps_tile(args, owner)) return;
      if (exec::lane_id() == 0) wait_for_peer(args.finished + owner * args.num_flags + flag, args.epoch, args.wait);
      exec::wave_sync();
      const row_span from = kept(args, owner, m0, n0, tile_m, tile_n);
      if (is_own(args, owner)) {
        for (index_t i = 1; i < args.self.ranks; ++i) {
          const index_t to = args.self.after(i);
          push_tile(args, args.c_of[to], args.c, from, args.c_flags_of[to] + flag);
        }
      } else {
        push_tile(args, args.sums_of[owner], static_cast<char*>(args.sums) + owner * args.chunk_bytes, from,
                  args.flags_of[owner] + flag);
      }
    });
    if (args.c_of[args.self.rank]) wait_for_results(d);
  }
  /// Until the other ranks' rows of an all-reduce have come: each lane waits for some tiles.
  TILEWRIGHT_HD static void wait_for_results(const device_args& d) {
    const reduce_scatter_args& args = d.args;
    const index_t cols = ceil_div(args.n, tile_n), tiles = ceil_div(args.m, tile_m) * cols;
    for (index_t i = exec::block_id().x * 32 + exec::lane_id(); i < tiles * (args.self.ranks - 1);
         i += exec::num_blocks() * 32) {
      const index_t step = divide(i, tiles), tile = i - step * tiles, row = divide(tile, cols);
      wait_for_peer(args.arrived + (args.self.ranks + args.self.after(step + 1)) * args.num_flags + row * d.tile_cols +
                        tile - row * cols,
                    args.epoch, args.wait);
    }
    exec::wave_sync();
  }
  /// `to` and `kept`: all rows of the owner, there and here.
  TILEWRIGHT_HD static void push_tile(const reduce_scatter_args& args, void* to, const void* kept, const row_span& from,
                                      unsigned* flag) {
    constexpr index_t bytes = tile_n * result_bytes, width = bytes % 512 == 0 ? 512 : bytes & -bytes;
    push_rows<width>(static_cast<char*>(to) + (from.first - static_cast<const char*>(kept)), from.stride, from);
    if (exec::lane_id() == 0) exec::set_flag(flag, args.epoch);
  }
#endif
};

}  // namespace detail

/// The kernel of a policy of warp_specialized_pipeline. With c_of it is an all-reduce, which ends when the other ranks'
/// rows have come.
template <class Policy>
  requires(arch::is_wgmma(Policy::tile.op))
struct reduce_scatter_kernel<Policy> : detail::rank_kernel<detail::reduce_scatter_block<Policy>> {
  using block = detail::reduce_scatter_block<Policy>;
  using args_type = reduce_scatter_args;
  using device_args = typename block::device_args;

  static constexpr const char* check(const args_type& args) {
    if (args.steps.first < 0 || args.steps.first + args.steps.count > args.self.ranks) return "there are no such steps";
    return detail::check_rank_block<block>(args, as_batch(args));
  }
  static device_args prepare(const args_type& args, const launch_facts& facts) {
    using R = typename Policy::result_type;
    constexpr hopper_gemm_tile tile = block::tile;
    const args_type batch = as_batch(args);
    device_args d = detail::plan_ranks<block>(batch, facts);
    const auto map = [&](exec::tensor_map& to, const void* data, index_t ld, index_t count) {
      facts.make_tensor_map(to, detail::request_map<R>(data, {args.n, batch.m}, ld, count,
                                                       args.chunk_bytes / index_t(sizeof(R)), {tile.box_n(), 64}));
    };
    map(d.c, args.c, args.ldc, 1);
    map(d.sums, args.sums, args.n, args.self.ranks);
    map(d.received, args.received, args.n, args.self.ranks);
    const bool many_rounds = d.schedule.whole_tiles >= 3 * d.schedule.workers;
    d.lead = many_rounds ? min(8, divide(d.schedule.k_tiles, 2 * tile.consumers * args.self.ranks)) : 0;
    d.tile_cols = detail::round_up(ceil_div(args.n, tile.n), tile.cluster_n);
    return d;
  }

 private:
  static constexpr args_type as_batch(const args_type& args) {
    return detail::as_batch(args, args.steps.count > 0 ? args.steps.count : args.self.ranks,
                            Policy::a_major == operand_major::k ? args.lda : 1, args.ldc);
  }
};

}  // namespace tilewright::parallel
