// SPDX-License-Identifier: MIT
// The loop over k by one wave on each SIMD, with all of its registers: memory instructions among matrix instructions.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/block/operands/operand_windows.hpp>

namespace tilewright {

/// Four waves, one on each SIMD, with tiles as large as the registers allow, so that each result costs the fewest LDS
/// reads. No other wave hides latency, so each memory instruction is issued long before its result is needed, among
/// matrix instructions. One barrier for each tile, with matrix instructions to issue right after it:
///
///   matrix | steps 0 to steps - 2 of t             |         | last step of t             |
///   LDS    | read one step ahead; write t + 1 to   | barrier | read step 0 of t + 1       |
///          | the other stage, from registers       |         |                            |
///   global |                                       |         | load t + 3 into registers  |
struct one_wave_per_simd_pipeline {
  static constexpr index_t num_stages = 2;         ///< tiles of A and B in LDS
  static constexpr index_t barriers_per_tile = 1;  ///< of a k tile

  /// Estimated registers of a thread: operands of two steps along k, two tiles in flight.
  template <class Policy>
  static constexpr index_t registers() {
    return detail::estimated_registers<Policy>(2, 2);
  }

  /// C (m, n) += A (m, k) B (n, k)^T over num_tiles tiles along k, at the first of which the windows are. All threads
  /// of the block call it; `lds` has num_stages stages.
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    require_operand_windows<Policy, AWindow, BWindow>();
    require_suitable<Policy>();
    using enum exec::instruction_kind;
    constexpr block_tile tile = Policy::tile;
    constexpr index_t steps = tile.num_k_steps(), per_step = matrix_instructions_per_step<tile>, half = per_step / 2,
                      rest = per_step - half;
    constexpr index_t reads = operand_windows<Policy>::num_reads / steps, writes = operand_windows<Policy>::num_writes;
    constexpr index_t loads = AWindow::num_access + BWindow::num_access;
    using stages = detail::lds_stages<Policy, num_stages>;
    // B's addresses are registers of their own: offsets of 16 bits do not reach from A's.
    const operand_windows<Policy> windows(lds, exec::opaque(stages::b_begin));
    detail::operand_fragments<Policy> f;

    detail::operand_tiles<AWindow, BWindow> next[2];  // in flight, odd tiles in the second
    prologue(windows, a_window, b_window, next, num_tiles);
    windows.template load<0, 1>(f, 0);
    detail::keep_in_accumulation_registers<tile>(c);  // also in each step and after the loop: the same on all paths

    // Multiplies all steps along k but the last, among the reads of the next step and what write(step) writes.
    const auto multiply = [&](index_t current, const auto& write) TILEWRIGHT_INLINE_LAMBDA {
      unroll<steps - 1>([&](auto s) TILEWRIGHT_INLINE_LAMBDA {
        exec::wait_for_lds<0>();
        windows.template load<s + 1, 1>(f, current);
        block_gemm<tile, s * per_step, half>(c, f.a, f.b);
        detail::spread_among_matrix_instructions<half, 0, lds_read, reads>();
        write(s);
      });
    };
    const auto step = [&](auto stage, index_t a_offset, index_t b_offset) TILEWRIGHT_INLINE_LAMBDA {
      detail::keep_in_accumulation_registers<tile>(c);
      constexpr index_t current = stage * stages::step, other = 1 - stage, free = other * stages::step;
      exec::wait_for_global_loads<loads>();
      multiply(current, [&](auto s) TILEWRIGHT_INLINE_LAMBDA {
        constexpr index_t first = writes * s / (steps - 1), last = writes * (s + 1) / (steps - 1);
        windows.template store_accesses<first, last>(next[other].a, next[other].b, free);
        block_gemm<tile, s * per_step + half, rest>(c, f.a, f.b);
        detail::spread_among_matrix_instructions<rest, rest / 4, lds_write, last - first>();
      });
      exec::block_sync();
      windows.template load<0, 1>(f, free);
      block_gemm<tile, (steps - 1) * per_step, half>(c, f.a, f.b);
      detail::spread_among_matrix_instructions<half, 0, lds_read, reads>();
      next[other].load_along_k(a_window, b_window, a_offset, b_offset);
      block_gemm<tile, (steps - 1) * per_step + half, rest>(c, f.a, f.b);
      detail::spread_among_matrix_instructions<rest, 0, global_load, loads>();
    };

    const index_t last = for_tiles<num_stages, 2>(a_window, b_window, num_tiles - 1, step);
    detail::keep_in_accumulation_registers<tile>(c);
    multiply(last * stages::step,
             [&](auto s) TILEWRIGHT_INLINE_LAMBDA { block_gemm<tile, s * per_step + half, rest>(c, f.a, f.b); });
    block_gemm<tile, (steps - 1) * per_step, per_step>(c, f.a, f.b);
  }

 private:
  template <class Policy>
  TILEWRIGHT_HD static constexpr void require_suitable() {
    static_assert(Policy::arch::value.isa == arch::instruction_set::cdna,
                  "one_wave_per_simd_pipeline: a wave can use all registers of a SIMD on CDNA only; use another "
                  "pipeline on this target");
    static_assert(Policy::tile.num_waves() == 4,
                  "one_wave_per_simd_pipeline: a compute unit has four SIMDs; use a block tile with 4 waves");
    static_assert(
        Policy::tile.num_k_steps() > 1,
        "one_wave_per_simd_pipeline: k of the block tile must be at least two steps of the matrix instruction");
    static_assert(
        registers<Policy>() <= Policy::arch::value.max_vgprs,
        "one_wave_per_simd_pipeline: accumulators, operands of two steps along k and two tiles in flight are more "
        "than the registers "
        "that a thread can have; use a smaller block tile");
    constexpr bool registers_suffice =
        sizeof(typename Policy::element_type) > 1 || ((Policy::a_major == operand_major::k || Policy::a_transposed) &&
                                                      (Policy::b_major == operand_major::k || Policy::b_transposed));
    static_assert(registers_suffice,
                  "one_wave_per_simd_pipeline: on this target 8-bit operands that are not contiguous along k need more "
                  "registers between global memory and LDS than there are; use another pipeline");
  }

  /// Tile 0 is in LDS, tiles 1 and 2 are in flight to registers, the windows are at tile 1. Where a tile does not exist
  /// the last one is loaded again. Ends with a barrier.
  template <class Policy, class AWindow, class BWindow>
  TILEWRIGHT_HD static void prologue(const operand_windows<Policy>& windows, AWindow& a_window, BWindow& b_window,
                                     detail::operand_tiles<AWindow, BWindow> (&next)[2], index_t num_tiles) {
    constexpr index_t step = Policy::tile.k;
    next[0].load(a_window, b_window);
    windows.store(next[0].a, next[0].b, 0);
    move_tile_window(a_window, {0, min(num_tiles - 1, 1) * step});
    move_tile_window(b_window, {0, min(num_tiles - 1, 1) * step});
    next[1].load(a_window, b_window);
    exec::schedule_fence();
    const index_t third = num_tiles > 2 ? 1 : 0;
    load_tile_along_k(next[0].a, a_window, third * detail::k_step(a_window));
    load_tile_along_k(next[0].b, b_window, third * detail::k_step(b_window));
    exec::block_sync();
  }
};

}  // namespace tilewright
