// SPDX-License-Identifier: MIT
// The loop over k with several LDS buffers that are filled without registers: while one tile is computed with,
// the next ones travel.
#pragma once

#include <tilewright/gemm/wave_copy_stages.hpp>

namespace tilewright {

/// On AMD GPUs that copy to LDS without registers wave_copy_stages does it, on others this. One barrier for each tile.
/// Operands are read one step along k before they are multiplied, during the first half of the multiplications of the
/// step before; in the middle of each step some of the copies of a later tile begin. The first step of a tile is read
/// while the last one of the tile before it is multiplied.
template <index_t Stages>
struct multi_stage_pipeline {
  static_assert(
      Stages >= 2,
      "multi_stage_pipeline: one tile is computed with while another one travels, so at least 2 stages are needed");
  static constexpr index_t num_stages = Stages;
  static constexpr index_t barriers_per_tile = 1;

  /// Of a thread, for static_report: operands of two steps along k, an address for each copy.
  template <class Policy>
  static constexpr index_t registers() {
    const index_t bytes = operand_windows<Policy>::copy_registers * 4,
                  copies = bytes / index_t(sizeof(typename Policy::element_type)) / Policy::copy_vector;
    return estimated_registers<Policy>(2, 0, max(32, copies + 16));
  }

  /// Adds the product of the operands that the windows slide over to c.
  /// Windows are (rows, k) and begin at the first tile.
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    if constexpr (Policy::copies_by_wave) {
      return wave_copy_stages<Policy, Stages>::run(c, a_window, b_window, num_tiles, lds);
    } else {
      run_lane_by_lane<Policy>(c, a_window, b_window, num_tiles, lds);
    }
  }

 private:
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run_lane_by_lane(static_distributed_tensor<Accumulator, C>& c, AWindow a_window,
                                             BWindow b_window, index_t num_tiles, exec::lds_pointer lds) {
    constexpr block_tile tile = Policy::tile;
    constexpr index_t steps = num_k_steps(tile), per_step = matrix_instructions_per_step<tile>;
    constexpr index_t stage_bytes = lds_stage_bytes<Policy>();
    const operand_windows<Policy> windows(lds);
    operand_fragments<Policy> f;

    // The first tile may be partial; the others are checked where the second one is.
    windows.a_copy(a_window).begin(0);
    windows.b_copy(b_window).begin(0);
    exec::async_end_group();
    const index_t a_step = k_step_bytes(a_window), b_step = k_step_bytes(b_window);
    move_tile_window(a_window, {0, tile.k});
    move_tile_window(b_window, {0, tile.k});
    auto a = windows.a_copy(a_window);
    auto b = windows.b_copy(b_window);
    constexpr index_t num_a = AWindow::num_access, num_copies = num_a + BWindow::num_access;
    // Of the copies of a tile in `parts` parts, those of one.
    const auto copy = [&](auto part, auto parts, index_t filling) TILEWRIGHT_INLINE_LAMBDA {
      constexpr auto range =
          accesses_of_both(num_a, num_copies * part.value / parts.value, num_copies * (part.value + 1) / parts.value);
      a.template begin<range.begin, range.end>(filling);
      b.template begin<range.second_begin, range.second_end>(filling);
    };
    // Behind the last tile there is nothing to copy; the group is empty.
    const auto end_copy = [&]() TILEWRIGHT_INLINE_LAMBDA {
      exec::async_end_group();
      a.advance(a_step);
      b.advance(b_step);
    };
    const auto wait_for_next_tile = []() TILEWRIGHT_INLINE_LAMBDA {
      exec::async_wait_groups<Stages - 2>();
      exec::block_sync();
    };
    unroll<Stages - 2>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      if (i.value + 1 < num_tiles) copy(number<0>{}, number<1>{}, (i.value + 1) * stage_bytes);
      end_copy();
    });

    // Multiplies step Step of the tile in registers, while step Next is read from the buffer `reading`; when half is
    // done, calls `between`.
    const auto multiply = [&](auto step, auto next, index_t reading, auto between) TILEWRIGHT_INLINE_LAMBDA {
      const operand_fragments<Policy> now = f;
      constexpr index_t half = max(per_step / 2, 1);
      unroll<per_step>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
        if constexpr (i.value < half) windows.template load_part<next.value, i.value, half>(f, reading);
        if constexpr (i.value == half - 1) between();
        block_gemm<tile, step.value * per_step + i.value, 1>(c, now.a, now.b);
      });
    };

    wait_for_next_tile();
    windows.template load<0, 1>(f, 0);
    index_t reading = 0, filling = (Stages - 1) * stage_bytes;
    TILEWRIGHT_UNROLL(1)
    for (index_t left = num_tiles; left > 1; --left) {
      const bool more = left > Stages - 1;
      constexpr number<max(steps - 1, 1)> parts{};
      unroll<steps - 1>([&](auto step) TILEWRIGHT_INLINE_LAMBDA {
        multiply(step, number<step.value + 1>{}, reading, [&]() TILEWRIGHT_INLINE_LAMBDA {
          if (more) copy(step, parts, filling);
        });
      });
      if constexpr (steps == 1) {
        if (more) copy(number<0>{}, parts, filling);
      }
      end_copy();
      filling = reading;
      reading = reading + stage_bytes == Stages * stage_bytes ? 0 : reading + stage_bytes;
      wait_for_next_tile();
      multiply(number<steps - 1>{}, number<0>{}, reading, []() TILEWRIGHT_INLINE_LAMBDA {});
    }
    windows.template load<1, steps - 1>(f, reading);
    block_gemm<tile>(c, f.a, f.b);
    exec::async_wait_groups<0>();
  }
};

}  // namespace tilewright
