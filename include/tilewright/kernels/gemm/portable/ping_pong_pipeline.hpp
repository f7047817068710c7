// SPDX-License-Identifier: MIT
// The loop over k by two groups of waves in ping-pong: one multiplies while the other moves operands.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/block/operands/operand_windows.hpp>

namespace tilewright {

/// Eight waves, two on each SIMD; waves 4-7 run half a slice after waves 0-3. A slice is 64 bytes of each row along k.
/// In its first half a wave writes an operand of the next tile to the other stage, reads the slice's operands and loads
/// from global memory; in the second half it only multiplies, at raised priority. Each half ends with a barrier, so
/// that of the two waves on a SIMD one always multiplies while the other moves operands.
struct ping_pong_pipeline {
  static constexpr index_t num_stages = 2;

  /// Slices of a tile: 64 bytes along k each, or one step of the matrix instruction if that is longer.
  template <class Policy>
  static constexpr index_t slices_per_tile() {
    return min(max(Policy::tile.k * index_t(sizeof(typename Policy::element_type)) / 64, 1),
               Policy::tile.num_k_steps());
  }

  /// How often a group moves operands, both groups counted.
  template <class Policy>
  static constexpr index_t turns_per_tile() {
    return 2 * slices_per_tile<Policy>();
  }
  /// Estimated registers of a thread: the operands of a slice, a tile in flight.
  template <class Policy>
  static constexpr index_t registers() {
    return detail::estimated_registers<Policy>(Policy::tile.num_k_steps() / slices_per_tile<Policy>(), 1);
  }

  /// c += A B. The windows are (rows, k), with the policy's distributions, and at the first of num_tiles tiles along k.
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    require_operand_windows<Policy, AWindow, BWindow>();
    constexpr block_tile tile = Policy::tile;
    static_assert(
        Policy::arch::value.isa == arch::instruction_set::cdna,
        "ping_pong_pipeline: the groups take turns at the matrix units of CDNA; use another pipeline on this target");
    static_assert(
        tile.num_waves() == 8,
        "ping_pong_pipeline: two groups of four waves, one for each SIMD, take turns; use a block tile with 8 waves");
    constexpr index_t slices = number<slices_per_tile<Policy>()>::value;
    using stages = detail::lds_stages<Policy, num_stages>;
    const operand_windows<Policy> windows(lds, stages::b_begin);
    detail::operand_fragments<Policy> f;

    detail::tile_of<AWindow> a_next;
    detail::tile_of<BWindow> b_next;
    detail::begin_two_tiles(windows, a_window, b_window, a_next, b_next, num_tiles);
    const bool is_second_group = exec::wave_id() >= tile.num_waves() / 2;
    if (is_second_group) exec::block_barrier();  // half a slice later from here on
    detail::keep_in_accumulation_registers<tile>(
        c);  // here, in each step and after the loop: one set of registers on all paths

    // With two slices or more A and B move in different ones.
    constexpr index_t b_slice = slices / 2, num_a = AWindow::num_access, num_b = BWindow::num_access;
    const auto step = [&](auto stage, index_t a_offset, index_t b_offset) TILEWRIGHT_INLINE_LAMBDA {
      detail::keep_in_accumulation_registers<tile>(c);
      constexpr index_t current = stage * stages::step, next = (1 - stage) * stages::step;
      const auto write = [&](auto p) TILEWRIGHT_INLINE_LAMBDA {
        if constexpr (p == 0) {
          exec::wait_for_global_loads<(b_slice == 0 ? 0 : num_b)>();
          windows.store_a(a_next, next);
        }
        if constexpr (p == b_slice) {
          if constexpr (b_slice > 0) exec::wait_for_global_loads<num_a>();
          windows.store_b(b_next, next);
        }
      };
      const auto fetch = [&](auto p) TILEWRIGHT_INLINE_LAMBDA {
        if constexpr (p == 0) load_tile_along_k(a_next, a_window, a_offset, in_bounds<1>{});
        if constexpr (p == b_slice) load_tile_along_k(b_next, b_window, b_offset, in_bounds<1>{});
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
  /// Slice P of the tile in the stage `current`. `write` brings to LDS what has arrived, `fetch` loads into its
  /// registers. After the barrier between the halves others rely on what was written; after a tile's last one also on
  /// what was read, because the other group writes to that stage next.
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
    write(number<P>{});
    exec::schedule_fence();
    unroll<slice_steps>([&](auto s) TILEWRIGHT_INLINE_LAMBDA {
      windows.template load<P * slice_steps + s, 1>(f, current);
      exec::schedule_fence();
    });
    fetch(number<P>{});
    exec::wait_for_lds<(is_last ? 0 : reads_of(slice_steps))>();
    exec::block_barrier();

    exec::set_priority<1>();
    unroll<slice_steps>([&](auto s) TILEWRIGHT_INLINE_LAMBDA {
      exec::schedule_fence();
      if constexpr (!is_last) exec::wait_for_lds<reads_of(slice_steps - 1 - s)>();
      exec::schedule_fence();
      block_gemm<tile, (P * slice_steps + s) * per_step, per_step>(c, f.a, f.b);
    });
    exec::schedule_fence();
    exec::set_priority<0>();
    exec::block_barrier();
  }
};

}  // namespace tilewright
