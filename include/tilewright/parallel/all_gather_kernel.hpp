// SPDX-License-Identifier: MIT
// The product of an A whose rows arrive from other GPUs while it runs: for Hopper, ready for launch().
#pragma once

#include <tilewright/gemm/warp_specialized_pipeline.hpp>
#include <tilewright/parallel/rank_args.hpp>

namespace tilewright::parallel {

namespace detail {

template <class Args>
struct all_gather_device_args : specialized_args<Args, 1> {
  exec::tensor_map gathered;
};

/// A policy of a product whose A is gathered.
template <class Policy>
struct with_gathered_a : Policy {
  using args_type = all_gather_args;
};

/// A specialized_block that begins with its own rank's rows, and goes on in the order in which the others arrive.
template <class Policy>
struct all_gather_block : specialized_block<Policy> {
  using device_args = all_gather_device_args<typename Policy::args_type>;
  using unit_type = chunk_unit;
  static constexpr bool receives_operands = true;
  static_assert(Policy::products == 1 && Policy::groups == group_kind::none && !Policy::is_block_scaled,
                "all_gather_kernel: the policy must be one of a plain product");

  TILEWRIGHT_HD static unit_type unit_of(const device_args& d, index_t u) {
    work_unit unit = d.schedule(u);
    const index_t step = d.args.steps.first + unit.tile.batch, source = d.args.self.after(step);
    const bool own = step == 0;
    unit.tile.batch = source;
    return {unit, own ? -1 : source, source};
  }
  TILEWRIGHT_HD static box_source<exec::tensor_map> a_source(const device_args& d, index_t z) {
    return {z < 0 ? d.a : d.gathered, max(z, 0)};
  }
#if TILEWRIGHT_HOPPER_PASS
  /// The producer: until the rows of its tile are there.
  TILEWRIGHT_HD static void wait_for_operands(const device_args& d, const unit_type& unit, index_t m0) {
    if (unit.a_z() < 0) return;
    const index_t last = min(m0 + specialized_block<Policy>::tile.m, d.args.m) - 1;
    const index_t piece = divide(last, rows_of_piece(d.args.m, d.args.pieces));
    for (index_t lane = 0; lane <= min(piece, copy_lanes - 1); ++lane)
      wait_for_peer(d.args.arrived + unit.a_z() * copy_lanes + lane,
                    d.args.before_first + unsigned(divide(piece - lane, copy_lanes)) + 1, d.args.wait);
  }
#endif
};

/// The product of a rank, as a batch of one product for each rank's rows, which share B.
template <class Args>
constexpr Args as_batch(Args args, index_t a_stride, index_t c_stride) {
  args.m = divide(args.m, args.self.ranks);
  args.batch = args.steps.count > 0 ? args.steps.count : args.self.ranks;
  args.batch_stride_a = long_index_t(args.m) * a_stride;
  args.batch_stride_c = long_index_t(args.m) * c_stride;
  args.batch_stride_b = 0;
  return args;
}

/// plan_specialized for the product of a rank, whose A has the rows of all ranks.
template <class Block, class Policy>
typename Block::device_args plan_ranks(typename Policy::args_type batch, const launch_facts& facts) {
  using T = typename Policy::element_type;
  constexpr bool a_along_k = Policy::a_major == operand_major::k, b_along_k = Policy::b_major == operand_major::k;
  constexpr specialized_tile tile = Block::tile;
  constexpr index_t k = Block::tile_k;
  typename Block::device_args d{};
  batch.batch_stride_b = 16;  // of a map that is replaced
  static_cast<specialized_args<typename Policy::args_type, 1>&>(d) =
      plan_specialized<Policy>(batch, facts.resident_clusters, facts.make_tensor_map);
  d.args.batch_stride_b = 0;
  facts.make_tensor_map(
      d.a, request_map<T>(batch.a, {a_along_k ? batch.k : batch.m, a_along_k ? batch.m : batch.k}, batch.lda,
                          batch.self.ranks, batch.batch_stride_a, {k, a_along_k ? tile.m / tile.share_a : k}));
  facts.make_tensor_map(d.b[0], request_map<T>(batch.b, {b_along_k ? batch.k : batch.n, b_along_k ? batch.n : batch.k},
                                               batch.ldb, 1, 0, {k, b_along_k ? tile.n / tile.share_b : k}));
  return d;
}

}  // namespace detail

/// The kernel of a policy of warp_specialized_pipeline. A's rows are contiguous along k.
template <class Policy>
  requires(arch::is_wgmma(Policy::tile.op))
struct all_gather_kernel<Policy> {
  using policy = detail::with_gathered_a<Policy>;
  using arch = typename Policy::arch;
  using args_type = all_gather_args;
  using block = detail::all_gather_block<policy>;
  using device_args = typename block::device_args;
  static constexpr index_t block_size = block::tile.block_size(), cluster = block::tile.cluster(),
                           lds_bytes = block::lds.bytes();
  static constexpr bool overlaps_previous = true;
  static_assert(Policy::a_major == operand_major::k, "all_gather_kernel: A must be contiguous along k");

  static constexpr const char* check(const args_type& args) {
    if (const char* why = detail::check_ranks(args)) return why;
    const args_type batch = detail::as_batch(args, args.ld_gathered, args.ldc);
    if (const char* why = check_gemm<policy>(batch, {2, sizeof(typename Policy::result_type), true})) return why;
    if (const char* why = detail::check_bulk_copies<policy>(batch)) return why;
    if (args.pieces < 1 || args.pieces > 64) return "a rank's rows are sent in 1 to 64 pieces";
    if (args.ld_gathered < args.k || !args.gathered || !args.arrived)
      return "gathered, arrived and ld_gathered must be given";
    return nullptr;
  }
  static device_args prepare(const args_type& args, const launch_facts& facts) {
    using T = typename Policy::element_type;
    constexpr specialized_tile tile = block::tile;
    const args_type batch = detail::as_batch(args, args.ld_gathered, args.ldc);
    device_args d = detail::plan_ranks<block, policy>(batch, facts);
    const auto map = [&](exec::tensor_map& to, const void* data, index_t ld, index_t count) {
      facts.make_tensor_map(to, detail::request_map<T>(data, {args.k, batch.m}, ld, count, batch.batch_stride_a,
                                                       {block::tile_k, tile.m / tile.share_a}));
    };
    facts.make_tensor_map(
        d.c, detail::request_map<typename Policy::result_type>(args.c, {args.n, batch.m}, args.ldc, args.self.ranks,
                                                               batch.batch_stride_c, {tile.store_n(), 64}));
    map(d.a, args.a, args.lda, 1);
    map(d.gathered, args.gathered, args.ld_gathered, args.self.ranks);
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
};

}  // namespace tilewright::parallel
