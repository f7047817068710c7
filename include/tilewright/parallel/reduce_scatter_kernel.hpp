// SPDX-License-Identifier: MIT
// The product of parts of k on several GPUs: tiles go to the GPU that owns their rows, which adds them up and finishes.
#pragma once

#include <tilewright/parallel/all_gather_kernel.hpp>

namespace tilewright::parallel {

namespace detail {

template <class Args>
struct reduce_scatter_device_args : specialized_args<Args, 1> {
  exec::tensor_map received, sums[max_peers], others[max_peers];
  index_t tile_cols;  // tiles of a row of C, flags of a row of tiles
};

template <class Policy>
struct with_scattered_c : Policy {
  using args_type = reduce_scatter_args;
};

/// A specialized_block that begins with the rows of the next rank and ends with its own.
template <class Policy>
struct reduce_scatter_block : specialized_block<Policy> {
  using device_args = reduce_scatter_device_args<typename Policy::args_type>;
  using unit_type = chunk_unit;
  static constexpr bool sends_tiles = true;
  static_assert(Policy::products == 1 && Policy::groups == group_kind::none && !Policy::is_block_scaled,
                "reduce_scatter_kernel: the policy must be one of a plain product");

  /// Where the maps and flags of sums for `owner` are.
  TILEWRIGHT_HD static constexpr index_t slot_of(const reduce_scatter_args& args, index_t owner) {
    return args.steps.count == 1 ? 0 : owner;
  }
  TILEWRIGHT_HD static unit_type unit_of(const device_args& d, index_t u) {
    work_unit unit = d.schedule(u);
    const index_t owner = d.args.self.after(d.args.steps.first + unit.tile.batch + 1);
    unit.tile.batch = owner;
    return {unit, owner, owner == d.args.self.rank ? 0 : slot_of(d.args, owner) + 1};
  }
#if TILEWRIGHT_HOPPER_PASS
  static constexpr index_t tile_m = specialized_block<Policy>::tile.m, tile_n = specialized_block<Policy>::tile.n;

  TILEWRIGHT_HD static index_t flag_of(const device_args& d, index_t m, index_t n) {
    return divide(m, tile_m) * d.tile_cols + divide(n, tile_n);
  }
  /// z: 0 for own rows, else the owner's slot + 1.
  TILEWRIGHT_HD static void store_box(const device_args& d, unsigned box, index_t n, index_t m, index_t z) {
    if (z != 0) return exec::bulk_store(d.sums[z - 1], box, n, m, 0);
    exec::bulk_store(d.c, box, n, m, 0);
    if (!writes_all_c(d.args)) return;
    for (index_t i = 1; i < d.args.self.ranks; ++i) exec::bulk_store(d.others[d.args.self.after(i)], box, n, m, 0);
  }
  TILEWRIGHT_HD static bool writes_all_c(const reduce_scatter_args& args) {
    return args.steps.count != 1 && args.c_of[args.self.after(1)];
  }
  /// After the last box of the tile that has element (m, n).
  TILEWRIGHT_HD static void send_tile(const device_args& d, index_t n, index_t m, index_t z) {
    const rank_of& self = d.args.self;
    if (z == 0 && !writes_all_c(d.args)) return;
    exec::wait_for_bulk_stores<0>();
    if (z != 0) return exec::set_flag(d.args.flags_of[z - 1] + flag_of(d, m, n), d.args.epoch);
    for (index_t i = 1; i < self.ranks; ++i)
      exec::set_flag(d.args.c_flags_of[self.after(i)] + flag_of(d, m, n), d.args.epoch);
  }
  /// Whether another rank finishes the rows of `owner`.
  TILEWRIGHT_HD static bool is_sent(const device_args& d, index_t owner) { return owner != d.args.self.rank; }

  /// Ranks that send sums of a tile. Their boxes come first, in the order of ranks: z is -1 - rank.
  TILEWRIGHT_HD static index_t num_sources(const device_args& d, const unit_type& unit) {
    return unit.c_z() == 0 ? d.args.self.ranks - 1 : 0;
  }
  TILEWRIGHT_HD static index_t z_of_pass(const device_args& d, const unit_type& unit, index_t pass) {
    if (pass == num_sources(d, unit)) return unit.c_z();
    return -1 - (pass < d.args.self.rank ? pass : pass + 1);
  }
  /// Until a rank has sent its sums of the tile that has element (m, n).
  TILEWRIGHT_HD static void wait_for_sums(const device_args& d, index_t n, index_t m, index_t source) {
    if (d.args.steps.count == 1 || m >= d.args.m || n >= d.args.n) return;  // they are there, or there are none
    wait_for_peer(d.args.arrived + source * d.args.num_flags + flag_of(d, m, n), d.args.epoch, d.args.wait);
  }
#endif
};

}  // namespace detail

/// The kernel of a policy of warp_specialized_pipeline. With c_of it is an all-reduce, whose rows of other ranks have
/// arrived when await_results has run.
template <class Policy>
  requires(arch::is_wgmma(Policy::tile.op))
struct reduce_scatter_kernel<Policy> {
  using policy = detail::with_scattered_c<Policy>;
  using arch = typename Policy::arch;
  using args_type = reduce_scatter_args;
  using block = detail::reduce_scatter_block<policy>;
  using device_args = typename block::device_args;
  static constexpr index_t block_size = block::tile.block_size(), cluster = block::tile.cluster(),
                           lds_bytes = block::lds.bytes();
  static constexpr bool overlaps_previous = true;

  static constexpr const char* check(const args_type& args) {
    if (const char* why = detail::check_ranks(args)) return why;
    if (args.self.ranks > max_peers && args.steps.count != 1) return "one kernel writes to at most 8 GPUs";
    const args_type batch = as_batch(args);
    if (const char* why = check_gemm<policy>(batch, {2, sizeof(typename Policy::result_type), true})) return why;
    return detail::check_bulk_copies<policy>(batch);
  }
  static device_args prepare(const args_type& args, const launch_facts& facts) {
    using R = typename Policy::result_type;
    constexpr specialized_tile tile = block::tile;
    args_type batch = as_batch(args);
    device_args d = detail::plan_ranks<block, policy>(batch, facts);
    const auto map = [&](exec::tensor_map& to, const void* data, index_t ld) {
      if (data)
        facts.make_tensor_map(to, detail::request_map<R>(data, {args.n, batch.m}, ld, 1, 0, {tile.store_n(), 64}));
    };
    map(d.c, args.c, args.ldc);
    facts.make_tensor_map(d.received,
                          detail::request_map<R>(args.received, {args.n, batch.m}, args.n, args.self.ranks,
                                                 args.received_stride / index_t(sizeof(R)), {tile.store_n(), 64}));
    const bool one_step = args.steps.count == 1;
    if (one_step) map(d.sums[0], args.sums_of[0], args.n);
    for (index_t r = 0; r < args.self.ranks && !one_step; ++r) {
      if (r == args.self.rank) continue;
      map(d.sums[r], args.sums_of[r], args.n);
      map(d.others[r], args.c_of[r], args.ldc);
    }
    d.tile_cols = detail::round_up(ceil_div(args.n, tile.n), tile.share_a);
    return d;
  }
  static constexpr grid_size grid(const device_args& args) { return {args.blocks, 1, 1}; }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const device_args& args) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr index_t bytes = lds_bytes;
    const exec::lds_pointer lds = exec::lds_allocate<bytes>();
    tilewright::detail::persistent_gemm<block>{
        args, lds, {exec::lds_address(lds), cluster > 1 ? exec::block_of_cluster() : 0}}();
#endif
  }

 private:
  static constexpr args_type as_batch(const args_type& args) {
    args_type batch = detail::as_batch(args, Policy::a_major == operand_major::k ? args.lda : 1, 0);
    batch.batch_stride_c = 16;  // of a map that is replaced
    return batch;
  }
};

}  // namespace tilewright::parallel
