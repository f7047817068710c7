// SPDX-License-Identifier: MIT
// The product of an A whose rows come from other GPUs while it runs: for Hopper, ready for launch().
#pragma once

#include <tilewright/kernels/parallel/rank_block.hpp>

namespace tilewright::parallel {

namespace detail {

template <class Args>
struct all_gather_device_args : hopper_gemm_device_args<Args, 1> {
  exec::tensor_map gathered;
};

/// A rank_block that begins with its own rank's rows, and goes on in the order in which the others come. Its sender
/// pushes own rows to the other ranks.
template <class Policy>
struct all_gather_block : rank_block<Policy, all_gather_args> {
  using base = rank_block<Policy, all_gather_args>;
  using device_args = all_gather_device_args<all_gather_args>;
  static constexpr bool receives_operands = true;

  TILEWRIGHT_HD static chunk_unit unit_of(const device_args& d, index_t u) {
    work_tile unit = d.schedule(u);
    const bool is_own = unit.tile.batch == 0;
    unit.tile.batch = d.args.self.after(unit.tile.batch);
    return {unit, is_own ? -1 : unit.tile.batch};
  }
  TILEWRIGHT_HD static box_source<exec::tensor_map> a_source(const device_args& d, index_t z) {
    return {z < 0 ? d.a : d.gathered, max(z, 0)};
  }
#if TILEWRIGHT_HOPPER_PASS
  using part = gather_parts;
  static constexpr index_t element_bytes = sizeof(typename Policy::element_type);

  /// Parts side by side.
  TILEWRIGHT_HD static index_t parts_of_row(const device_args& d) {
    return ceil_div(d.args.k * element_bytes, part::bytes);
  }

  /// The producer: until the rows of its tile are there.
  TILEWRIGHT_HD static void wait_for_operands(const device_args& d, const chunk_unit& unit, index_t m0) {
    if (unit.a_z() < 0 || !d.args.arrived) return;
    const index_t end = min(m0 + base::tile.m, d.args.m);
    for (index_t first = divide(m0, part::group_rows) * part::group_rows; first < end; first += part::group_rows) {
      const index_t rows = min(part::group_rows, d.args.m - first),
                    parts = ceil_div(rows, part::rows(d.args.m)) * parts_of_row(d);
      wait_for_peer(d.args.arrived + unit.a_z() * gather_groups(d.args.m) + divide(first, part::group_rows),
                    d.args.epoch * unsigned(parts), d.args.wait);
    }
  }

  /// One wave of each block: parts of own rows go to the rank that needs them next, in the order of rows.
  template <class ForEachUnit>
  TILEWRIGHT_HD static void send(const device_args& d, ForEachUnit) {
    const all_gather_args& args = d.args;
    if (!args.arrived) return;
    exec::grid_dependency_wait();
    const index_t rank = args.self.rank, rows = part::rows(args.m), per_row = parts_of_row(d),
                  parts = ceil_div(args.m, rows) * per_row;
    const long_index_t stride = long_index_t(args.ld_gathered) * element_bytes,
                       own_stride = long_index_t(args.lda) * element_bytes;
    for (index_t step = 1; step < args.self.ranks; ++step) {
      const index_t to = args.self.before(step);
      TILEWRIGHT_UNROLL(1)
      for (index_t i = exec::block_id().x; i < parts; i += exec::num_blocks()) {
        const index_t row = divide(i, per_row) * rows, byte = modulo(i, per_row) * part::bytes;
        char* const there =
            static_cast<char*>(args.gathered_of[to]) + (long_index_t(rank) * args.m + row) * stride + byte;
        char* const here = const_cast<char*>(static_cast<const char*>(args.a)) + row * own_stride + byte;
        push_rows<part::bytes>(
            there, stride,
            {here, own_stride, min(rows, args.m - row), min(part::bytes, args.k * element_bytes - byte)});
        if (exec::lane_id() == 0)
          exec::add_to_flag(args.arrived_of[to] + rank * gather_groups(args.m) + divide(row, part::group_rows), 1);
      }
    }
  }
#endif
};

}  // namespace detail

/// The kernel of a policy of warp_specialized_pipeline. A's rows are contiguous along k.
template <class Policy>
  requires(arch::is_wgmma(Policy::tile.op))
struct all_gather_kernel<Policy> : detail::rank_kernel<detail::all_gather_block<Policy>> {
  using block = detail::all_gather_block<Policy>;
  using args_type = all_gather_args;
  using device_args = typename block::device_args;
  static_assert(Policy::a_major == operand_major::k, "all_gather_kernel: A must be contiguous along k");

  static constexpr const char* check(const args_type& args) {
    const args_type batch = as_batch(args);
    if (const char* why = detail::check_rank_block<block>(args, batch)) return why;
    args_type own = batch;
    own.batch_stride_a = 0;  // the rows of this rank alone are in args.a
    if (const char* why = tilewright::detail::check_result_memory(own, tilewright::detail::checked_gemm_v<Policy>))
      return why;
    if (args.ld_gathered < args.k || !args.gathered) return "gathered and ld_gathered must be given";
    if (args.arrived && args.k * index_t(sizeof(typename Policy::element_type)) % 16 != 0)
      return "rows that are sent must be a multiple of 16 bytes";
    return nullptr;
  }
  static device_args prepare(const args_type& args, const launch_facts& facts) {
    using T = typename Policy::element_type;
    constexpr hopper_gemm_tile tile = block::tile;
    const args_type batch = as_batch(args);
    device_args d = detail::plan_ranks<block>(batch, facts);
    const auto map = [&](exec::tensor_map& to, const void* data, index_t ld, index_t count) {
      facts.make_tensor_map(to, detail::request_map<T>(data, {args.k, batch.m}, ld, count, batch.batch_stride_a,
                                                       {block::tile_k, tile.m / tile.cluster_n}));
    };
    facts.make_tensor_map(
        d.c, detail::request_map<typename Policy::result_type>(args.c, {args.n, batch.m}, args.ldc, args.self.ranks,
                                                               batch.batch_stride_c, {tile.box_n(), 64}));
    map(d.a, args.a, args.lda, 1);
    map(d.gathered, args.gathered, args.ld_gathered, args.self.ranks);
    return d;
  }

 private:
  static constexpr args_type as_batch(const args_type& args) {
    return detail::as_batch(args, args.self.ranks, args.ld_gathered, args.ldc);
  }
};

}  // namespace tilewright::parallel
