// SPDX-License-Identifier: MIT
// The loop over k with several stages in LDS, filled without registers while earlier tiles are multiplied.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/block/operands/stage_copies.hpp>

namespace tilewright {

/// Stages tiles in LDS: one is multiplied while up to Stages - 1 are in flight. Operands are read one step along k
/// ahead of their matrix instructions. One barrier for each tile, before its last step:
///
///   matrix | steps 0 to steps - 2 of t                       |                            | last step of t       |
///   LDS    | read one step ahead                             |                            | read step 0 of t + 1 |
///   copies | issue t + Stages - 1, a fraction in each step   | commit, wait t+1, barrier  |                      |
template <index_t Stages>
struct multi_stage_pipeline {
  static_assert(
      Stages >= 2,
      "multi_stage_pipeline: one tile is multiplied while another is in flight, so at least 2 stages are needed");
  static constexpr index_t num_stages = Stages;    ///< tiles of A and B in LDS
  static constexpr index_t barriers_per_tile = 1;  ///< of a k tile

  /// Estimated registers of a thread: operands of two steps along k, an address for each copy.
  template <class Policy>
  static constexpr index_t registers() {
    const index_t bytes = operand_windows<Policy>::copy_registers * 4,
                  copies = bytes / index_t(sizeof(typename Policy::element_type)) / Policy::copy_vector;
    return detail::estimated_registers<Policy>(2, 0, max(32, copies + 16));
  }

  /// C (m, n) += A (m, k) B (n, k)^T over num_tiles tiles along k, at the first of which the windows are. All threads
  /// of the block call it; `lds` has num_stages stages.
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    require_operand_windows<Policy, AWindow, BWindow>();
    constexpr block_tile tile = Policy::tile;
    constexpr index_t steps = tile.num_k_steps(), stage_bytes = detail::lds_stage_bytes<Policy>();
    using copies_type = stage_copies<Policy, Stages, AWindow, BWindow>;
    const operand_windows<Policy> windows(lds);
    detail::operand_fragments<Policy> f;

    // The first tile may be partial; where the second one is inside of the tensor all others are.
    copies_type(a_window, b_window, windows, lds).issue(0);
    if constexpr (!Policy::copies_by_wave) exec::async_end_group();
    move_tile_window(a_window, {0, tile.k});
    move_tile_window(b_window, {0, tile.k});
    copies_type copies(a_window, b_window, windows, lds);
    unroll<Stages - 2>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      copies.issue((i + 1) * stage_bytes, i.value + 1 < num_tiles);
      copies.commit(num_tiles > i + 2);
    });

    // Multiplies the tile in stage `current`, whose first step is in registers, and fills stage `free` with the tile
    // Stages - 1 tiles later. `left`: tiles from this one on, at least two.
    const auto multiply = [&](index_t current, index_t free, index_t next, index_t left) TILEWRIGHT_INLINE_LAMBDA {
      hold<Policy>(c);
      const bool exists = left > Stages - 1;
      unroll<steps - 1>([&]<index_t S>(number<S>) TILEWRIGHT_INLINE_LAMBDA {
        multiply_step<S, S + 1>(c, f, windows, current, [&]() TILEWRIGHT_INLINE_LAMBDA {
          if constexpr (S < fractions<Policy>) copies.template issue<S, fractions<Policy>>(free, exists);
        });
      });
      if constexpr (steps == 1) copies.issue(free, exists);
      copies.commit(left > Stages);
      copies.wait_for_tile();
      multiply_step<steps - 1, 0>(c, f, windows, next, []() TILEWRIGHT_INLINE_LAMBDA {});
    };

    copies.wait_for_tile();
    hold<Policy>(c);
    windows.template load<0, 1>(f, 0);
    index_t left = num_tiles, current = 0, free = (Stages - 1) * stage_bytes;
    if constexpr (Policy::copies_by_wave) {  // the loop's body exists once for each stage: addresses are constants
      TILEWRIGHT_UNROLL(1)
      for (; left > Stages; left -= Stages) {
        unroll<Stages>([&](auto stage) TILEWRIGHT_INLINE_LAMBDA {
          constexpr index_t s = stage.value;
          multiply(s * stage_bytes, (s + Stages - 1) % Stages * stage_bytes, (s + 1) % Stages * stage_bytes, left - s);
        });
      }
    }
    TILEWRIGHT_UNROLL(1)
    for (; left > 1; --left) {
      const index_t next = current + stage_bytes == Stages * stage_bytes ? 0 : current + stage_bytes;
      multiply(current, free, next, left);
      free = current;
      current = next;
    }
    windows.template load<1, steps - 1>(f, current);
    block_gemm<tile>(c, f.a, f.b);
    copies.wait_for_all();
  }

 private:
  /// Steps along k in which copies are issued; those of the only tile in flight as early as possible.
  template <class Policy>
  static constexpr index_t fractions =
      Policy::copies_by_wave && Stages == 2 ? 1 : max(Policy::tile.num_k_steps() - 1, 1);

  /// Half of a thread's registers are accumulation registers: 256 accumulators fill them, and nothing else must.
  template <class Policy, class C>
  TILEWRIGHT_HD static void hold([[maybe_unused]] C& c) {
    if constexpr (Policy::copies_by_wave && C::num_elements >= 256)
      detail::keep_in_accumulation_registers<Policy::tile>(c);
  }

  /// Multiplies step Step along k, which is in registers, while step Next is read from the stage `current`. copy()
  /// issues copies of a later tile.
  template <index_t Step, index_t Next, class Policy, class C, class Copy>
  TILEWRIGHT_HD static void multiply_step(C& c, detail::operand_fragments<Policy>& f,
                                          const operand_windows<Policy>& windows, index_t current, const Copy& copy) {
    constexpr block_tile tile = Policy::tile;
    constexpr index_t per_step = matrix_instructions_per_step<tile>;
    const detail::operand_fragments<Policy> now = f;
    if constexpr (Policy::copies_by_wave) {
      constexpr index_t reads = operand_windows<Policy>::num_reads / tile.num_k_steps();
      windows.template load<Next, 1>(f, current);
      copy();
      block_gemm<tile, Step * per_step, per_step>(c, now.a, now.b);
      detail::spread_among_matrix_instructions<per_step, per_step * 3 / 4, exec::instruction_kind::lds_read, reads>();
    } else {  // compilers that take no hints keep the order in which instructions are written
      constexpr index_t half = max(per_step / 2, 1);
      unroll<per_step>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
        if constexpr (i.value < half) windows.template load_part<Next, i.value, half>(f, current);
        if constexpr (i.value == half - 1) copy();
        block_gemm<tile, Step * per_step + i.value, 1>(c, now.a, now.b);
      });
    }
  }
};

}  // namespace tilewright
