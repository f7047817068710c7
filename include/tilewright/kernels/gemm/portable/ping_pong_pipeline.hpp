// SPDX-License-Identifier: MIT
// The loop over k by two groups of waves in ping-pong: one multiplies while the other moves operands.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/block/operands/operand_windows.hpp>

namespace tilewright {

/// Eight waves, two on each SIMD: waves 0-3 and waves 4-7. A slice is 64 bytes of each row along k. In its first half a
/// wave moves operands: it writes an operand of the next tile to the other stage, reads the slice's operands and loads
/// from global memory. In the second half it only multiplies, at raised priority. Each half ends with a barrier of the
/// block. The second group waits at one barrier more before its first slice, and the first at one more after its last:
/// so the second runs half a slice later, and of two waves on a SIMD one multiplies while the other moves operands.
///
///   waves 0-3 | move 0 | multiply 0 | move 1     | multiply 1 | ...        |
///   waves 4-7 |        | move 0     | multiply 0 | move 1     | multiply 1 |
///   barriers           ^            ^            ^            ^
struct ping_pong_pipeline {
  static constexpr index_t num_stages = 2;  ///< tiles of A and B in LDS

  /// Slices of a tile: 64 bytes along k each, or one step of the matrix instruction if that is longer.
  template <class Policy>
  static constexpr index_t slices_per_tile() {
    return min(max(Policy::tile.k * index_t(sizeof(typename Policy::element_type)) / 64, 1),
               Policy::tile.num_k_steps());
  }

  /// Halves of slices in a tile: how often the groups exchange roles.
  template <class Policy>
  static constexpr index_t halves_per_tile() {
    return 2 * slices_per_tile<Policy>();
  }
  /// Estimated registers of a thread: the operands of a slice, a tile in flight.
  template <class Policy>
  static constexpr index_t registers() {
    return detail::estimated_registers<Policy>(Policy::tile.num_k_steps() / slices_per_tile<Policy>(), 1);
  }

  /// C (m, n) += A (m, k) B (n, k)^T over num_tiles tiles along k, at the first of which the windows are. All threads
  /// of the block call it; `lds` has num_stages stages.
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    require_operand_windows<Policy, AWindow, BWindow>();
    constexpr block_tile tile = Policy::tile;
    static_assert(Policy::arch::value.isa == arch::instruction_set::cdna,
                  "ping_pong_pipeline: two groups of waves alternate at the matrix units of CDNA; use another pipeline "
                  "on this target");
    static_assert(
        tile.num_waves() == 8,
        "ping_pong_pipeline: two groups of four waves, one for each SIMD, alternate; use a block tile with 8 waves");
    constexpr index_t slices = number<slices_per_tile<Policy>()>::value;
    using stages = detail::lds_stages<Policy, num_stages>;
    const operand_windows<Policy> windows(lds, stages::b_begin);
    detail::operand_fragments<Policy> f;

    detail::operand_tiles<AWindow, BWindow> next;
    detail::prologue(windows, a_window, b_window, next, num_tiles);
    const bool is_second_group = exec::wave_id() >= tile.num_waves() / 2;
    if (is_second_group) exec::block_barrier();       // half a slice later from here on
    detail::keep_in_accumulation_registers<tile>(c);  // also in each step and after the loop: the same on all paths

    // With two slices or more A and B move in different ones.
    constexpr index_t b_slice = slices / 2, num_a = AWindow::num_access, num_b = BWindow::num_access;
    const auto step = [&](auto stage, index_t a_offset, index_t b_offset) TILEWRIGHT_INLINE_LAMBDA {
      detail::keep_in_accumulation_registers<tile>(c);
      constexpr index_t current = stage * stages::step, free = (1 - stage) * stages::step;
      const auto write = [&](auto p) TILEWRIGHT_INLINE_LAMBDA {
        if constexpr (p == 0) {
          exec::wait_for_global_loads<(b_slice == 0 ? 0 : num_b)>();
          windows.store_a(next.a, free);
        }
        if constexpr (p == b_slice) {
          if constexpr (b_slice > 0) exec::wait_for_global_loads<num_a>();
          windows.store_b(next.b, free);
        }
      };
      const auto fetch = [&](auto p) TILEWRIGHT_INLINE_LAMBDA {
        if constexpr (p == 0) load_tile_along_k(next.a, a_window, a_offset, in_bounds<1>{});
        if constexpr (p == b_slice) load_tile_along_k(next.b, b_window, b_offset, in_bounds<1>{});
      };
      unroll<slices>([&](auto p) TILEWRIGHT_INLINE_LAMBDA { run_slice<p>(c, f, windows, current, write, fetch); });
    };

    const index_t last = for_tiles<num_stages, 1>(a_window, b_window, num_tiles - 1, step);
    detail::keep_in_accumulation_registers<tile>(c);
    const auto nothing = [](auto) TILEWRIGHT_INLINE_LAMBDA {};
    unroll<slices>(
        [&](auto p) TILEWRIGHT_INLINE_LAMBDA { run_slice<p>(c, f, windows, last * stages::step, nothing, nothing); });
    if (!is_second_group) exec::block_barrier();
  }

 private:
  /// Slice P of the tile in the stage `current`. write(P) stores what has arrived in registers to LDS, fetch(P) loads
  /// the tile after it into them. The barrier between the halves publishes what was written; that of a tile's last
  /// slice also releases the stage, which the other group writes next.
  template <index_t P, class Policy, class C, class Write, class Fetch>
  TILEWRIGHT_HD static void run_slice(C& c, detail::operand_fragments<Policy>& f,
                                      const operand_windows<Policy>& windows, index_t current, const Write& write,
                                      const Fetch& fetch) {
    constexpr block_tile tile = Policy::tile;
    constexpr index_t steps = tile.num_k_steps(), per_step = matrix_instructions_per_step<tile>;
    constexpr index_t slices = number<slices_per_tile<Policy>()>::value, slice_steps = steps / slices;
    constexpr index_t reads_per_step = operand_windows<Policy>::num_reads / steps;
    constexpr bool is_last = P == slices - 1;
    constexpr auto reads_of = [](index_t count) { return min(count * reads_per_step, 15); };
    write(number<P>{});  // the next tile of A or B: registers -> LDS
    exec::schedule_fence();
    unroll<slice_steps>([&](auto s) TILEWRIGHT_INLINE_LAMBDA {
      windows.template load<P * slice_steps + s, 1>(f, current);  // A (m, k), B (n, k) of this slice: LDS -> registers
      exec::schedule_fence();
    });
    fetch(number<P>{});  // the tile after the next: memory -> registers
    exec::wait_for_lds<(is_last ? 0 : reads_of(slice_steps))>();
    exec::block_barrier();

    exec::set_priority<1>();
    unroll<slice_steps>([&](auto s) TILEWRIGHT_INLINE_LAMBDA {
      exec::schedule_fence();
      if constexpr (!is_last) exec::wait_for_lds<reads_of(slice_steps - 1 - s)>();
      exec::schedule_fence();
      block_gemm<tile, (P * slice_steps + s) * per_step, per_step>(c, f.a, f.b);  // c (m, n) += A B^T
    });
    exec::schedule_fence();
    exec::set_priority<0>();
    exec::block_barrier();
  }
};

}  // namespace tilewright
