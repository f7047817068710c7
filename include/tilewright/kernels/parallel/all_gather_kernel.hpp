// SPDX-License-Identifier: MIT
// All-gather GEMM for Hopper: rows of A arrive from other GPUs while the kernel runs.
#pragma once

#include <tilewright/kernels/parallel/rank_block.hpp>

namespace tilewright::parallel {

namespace detail {

template <class Args>
struct all_gather_device_args : hopper_gemm_device_args<Args, 1> {
  exec::tensor_map gathered;
};

/// A warp of each block sends slices of this rank's rows to the rank that needs them next, in the order of rows, and
/// counts them there. The producer of that rank waits for the counts of its tile's rows:
///
///   rank r     | assist: push slice -> gathered_of[r - 1] | add 1 to arrived_of[r - 1] (release)
///   rank r - 1 |                                            load: wait for arrived (acquire) | TMA load A
template <class Block>
struct row_sender {
  static constexpr bool is_present = true;
  using slice = gather_slices;
  static constexpr index_t element_bytes = sizeof(typename Block::element_type);
  const typename Block::device_args& d;

  TILEWRIGHT_HD row_sender(const typename Block::device_args& args, const typename Block::roles::pipeline&,
                           exec::lds_pointer)
      : d(args) {}

  /// Slices side by side.
  TILEWRIGHT_HD static index_t slices_of_row(const typename Block::device_args& d) {
    return ceil_div(d.args.k * element_bytes, slice::bytes);
  }

#if TILEWRIGHT_HOPPER_PASS
  template <class Scheduler>
  TILEWRIGHT_HD void operator()(const Scheduler&) const {
    const all_gather_args& args = d.args;
    if (!args.arrived) return;
    exec::grid_dependency_wait();
    const index_t rank = args.self.rank, rows = slice::rows(args.m), per_row = slices_of_row(d),
                  slices = ceil_div(args.m, rows) * per_row;
    const long_index_t stride = long_index_t(args.ld_gathered) * element_bytes,
                       own_stride = long_index_t(args.lda) * element_bytes;
    for (index_t step = 1; step < args.self.ranks; ++step) {
      const index_t to = args.self.before(step);
      TILEWRIGHT_UNROLL(1)
      for (index_t i = exec::block_id().x; i < slices; i += exec::num_blocks()) {
        const index_t row = divide(i, per_row) * rows, byte = modulo(i, per_row) * slice::bytes;
        char* const there =
            static_cast<char*>(args.gathered_of[to]) + (long_index_t(rank) * args.m + row) * stride + byte;
        char* const here = const_cast<char*>(static_cast<const char*>(args.a)) + row * own_stride + byte;
        push_rows<slice::bytes>(
            there, stride,
            {here, own_stride, min(rows, args.m - row), min(slice::bytes, args.k * element_bytes - byte)});
        if (exec::lane_id() == 0)
          exec::add_to_flag(args.arrived_of[to] + rank * gather_groups(args.m) + divide(row, slice::group_rows), 1);
      }
    }
  }
#endif
};

/// A rank_block that begins with its own rank's rows, and goes on in the order in which the others arrive.
template <class Policy>
struct all_gather_block : rank_block<Policy, all_gather_args> {
  using base = rank_block<Policy, all_gather_args>;
  using device_args = all_gather_device_args<all_gather_args>;
  struct roles : hopper_gemm_roles<all_gather_block> {
    using assistant = row_sender<all_gather_block>;
  };

  /// All ranks' rows are multiplied by the same B. a_z: -1 for own rows.
  TILEWRIGHT_HD static hopper_work_tile work_at(const device_args& d, index_t u) {
    hopper_work_tile work{d.schedule(u)};
    const bool is_own = work.tile.batch == 0;
    work.tile.batch = d.args.self.after(work.tile.batch);
    work.a_z = is_own ? -1 : work.tile.batch;
    work.c_z = work.tile.batch;
    return work;
  }
#if TILEWRIGHT_HOPPER_PASS
  /// Waits until the rows of other ranks are there.
  TILEWRIGHT_HD static tma_tensor<exec::tensor_map> source_of_a(const device_args& d, const hopper_work_tile& work) {
    if (work.a_z < 0) return {d.a, 0};
    if (d.args.arrived) wait_for_rows(d, work.a_z, work.m0, min(work.m0 + base::tile.m, d.args.m));
    return {d.gathered, work.a_z};
  }

 private:
  TILEWRIGHT_HD static void wait_for_rows(const device_args& d, index_t rank, index_t first_row, index_t end) {
    using slice = gather_slices;
    for (index_t first = divide(first_row, slice::group_rows) * slice::group_rows; first < end;
         first += slice::group_rows) {
      const index_t rows = min(slice::group_rows, d.args.m - first),
                    slices = ceil_div(rows, slice::rows(d.args.m)) * row_sender<all_gather_block>::slices_of_row(d);
      wait_for_peer(d.args.arrived + rank * gather_groups(d.args.m) + divide(first, slice::group_rows),
                    d.args.epoch * unsigned(slices), d.args.wait);
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
    const args_type batch = as_batch(args);
    device_args d = detail::plan_ranks<block>(batch, facts);
    const auto maps = detail::maps_of<block>(facts);
    maps.a(d.a, {.data = args.a, .rows = batch.m, .cols = args.k, .ld = args.lda});
    maps.a(d.gathered, {args.gathered, batch.m, args.k, args.ld_gathered, args.self.ranks, batch.batch_stride_a});
    maps.c(d.c, {args.c, batch.m, args.n, args.ldc, args.self.ranks, batch.batch_stride_c});
    return d;
  }

 private:
  static constexpr args_type as_batch(const args_type& args) {
    return detail::as_batch(args, args.self.ranks, args.ld_gathered, args.ldc);
  }
};

}  // namespace tilewright::parallel
