// SPDX-License-Identifier: MIT
// The loop over k with one stage in LDS: tile t is multiplied while tile t + 1 is in flight to registers.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/block/operands/operand_windows.hpp>

namespace tilewright {

/// Two barriers for each tile, and half of the LDS that two stages need: larger tiles or twice as many blocks fit.
/// Operands are read `ahead` steps along k ahead, so that the stage is free while the last `ahead` steps are
/// multiplied:
///
///   matrix | steps 0 to steps - ahead - 1 of t |         | ahead steps of t                    |
///   LDS    | read the last `ahead` steps of t  | barrier | write t + 1 | barrier | read t + 1 |
///   global |                                            | load t + 2                         |
struct single_buffered_pipeline {
  static constexpr index_t num_stages = 1;         ///< tiles of A and B in LDS
  static constexpr index_t barriers_per_tile = 2;  ///< of a k tile

  /// Steps along k that are read ahead: half of the tile, or one if there are no registers for more.
  template <class Policy>
  static constexpr index_t steps_ahead() {
    return max(detail::steps_in_registers<Policy>() / 2, 1);
  }

  /// Estimated registers of a thread.
  template <class Policy>
  static constexpr index_t registers() {
    return detail::estimated_registers<Policy>(detail::steps_in_registers<Policy>(), 1);
  }

  /// C (m, n) += A (m, k) B (n, k)^T over num_tiles tiles along k, at the first of which the windows are. All threads
  /// of the block call it; `lds` has num_stages stages.
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    require_operand_windows<Policy, AWindow, BWindow>();
    using enum exec::instruction_kind;
    constexpr block_tile tile = Policy::tile;
    constexpr index_t steps = tile.num_k_steps(), ahead = number<steps_ahead<Policy>()>::value,
                      per_step = matrix_instructions_per_step<tile>;
    static_assert(steps > ahead,
                  "single_buffered_pipeline: k of the block tile must be at least two steps of the matrix instruction");
    constexpr index_t num_reads = operand_windows<Policy>::num_reads / steps;
    constexpr index_t num_copies = AWindow::num_access + BWindow::num_access;
    const operand_windows<Policy> windows(lds);
    detail::operand_fragments<Policy> f;

    detail::operand_tiles<AWindow, BWindow> next;
    detail::prologue(windows, a_window, b_window, next, num_tiles);
    windows.template load<0, ahead>(f, 0);
    // Before and in the loop: otherwise a C of one tile along k has accumulators of its own, into which those of the
    // loop are moved, through more registers than there are.
    detail::keep_in_accumulation_registers<tile>(c);

    const auto multiply_and_read_the_rest = [&]() TILEWRIGHT_INLINE_LAMBDA {
      unroll<steps - ahead>([&](auto step) TILEWRIGHT_INLINE_LAMBDA {
        exec::wait_for_lds<(ahead - 1) * num_reads>();
        windows.template load<step + ahead, 1>(f, 0);
        block_gemm<tile, step * per_step, per_step>(c, f.a, f.b);
        detail::spread_among_matrix_instructions<per_step, per_step / 3, lds_read, num_reads>();
      });
    };
    // The windows are at the tile in registers. The last step loads it again, as no tile follows.
    const auto step = [&](auto, index_t a_offset, index_t b_offset) TILEWRIGHT_INLINE_LAMBDA {
      detail::keep_in_accumulation_registers<tile>(c);
      multiply_and_read_the_rest();
      exec::block_sync();

      constexpr index_t rest = (steps - ahead) * per_step, during_writes = (ahead * per_step + 1) / 2,
                        during_reads = ahead * per_step - during_writes;
      exec::wait_for_global_loads();
      windows.store(next.a, next.b, 0);
      next.load_along_k(a_window, b_window, a_offset, b_offset);
      block_gemm<tile, rest, during_writes>(c, f.a, f.b);
      detail::spread_among_matrix_instructions<during_writes, 0, lds_write, num_copies, global_load, num_copies>();
      exec::block_sync();

      windows.template load<0, ahead>(f, 0);
      block_gemm<tile, rest + during_writes, during_reads>(c, f.a, f.b);
      detail::spread_among_matrix_instructions<during_reads, during_reads / 2, lds_read, num_reads * ahead>();
    };
    for_tiles<num_stages, 1>(a_window, b_window, num_tiles - 1, step);
    multiply_and_read_the_rest();
    block_gemm<tile, (steps - ahead) * per_step, ahead * per_step>(c, f.a, f.b);
  }
};

}  // namespace tilewright
