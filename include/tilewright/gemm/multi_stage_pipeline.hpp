// SPDX-License-Identifier: MIT
// The loop over k with several LDS buffers that are filled without registers: while one tile is computed with, the next ones travel.
#pragma once

#include <tilewright/gemm/direct_stages.hpp>

namespace tilewright {

/// On AMD GPUs that copy to LDS without registers direct_stages does it, on others this. One barrier for each tile. Operands are read one step along k before they are multiplied; the first step of a tile is read while
/// the last one of the tile before it is multiplied.
template <index_t Stages>
struct multi_stage_pipeline {
  static_assert(
      Stages >= 2,
      "multi_stage_pipeline: one tile is computed with while another one travels, so at least 2 stages are needed");
  static constexpr index_t num_stages = Stages;
  static constexpr index_t num_tiles_behind = Stages - 1;  // filled with zeros behind the last tile
  static constexpr index_t barriers_per_tile = 1;

  /// Adds the product of the operands that the windows slide over to c. Windows are (rows, k) and begin at the first tile.
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    if constexpr (Policy::exchanges_lanes) {
      return direct_stages<Policy, Stages>::run(c, a_window, b_window, num_tiles, lds);
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
    constexpr index_t stage_bytes = lds_stage_bytes<Policy>(),
                      copies_per_tile = AWindow::num_access + BWindow::num_access;
    const operand_windows<Policy> windows(lds);
    operand_fragments<Policy> f;

    const auto advance = [](index_t& stage) TILEWRIGHT_INLINE_LAMBDA {
      stage += stage_bytes;
      if (stage == Stages * stage_bytes) stage = 0;
    };
    // LDS buffers, in bytes: the one that is filled, and the one that is read. Behind the last tile there is nothing: zeros are "copied",
    // so that the same number of copies is always under way.
    index_t filling = 0, reading = 0;
    const auto move_to_next_tile = [&]() TILEWRIGHT_INLINE_LAMBDA {
      advance(filling);
      move_tile_window(a_window, {0, tile.k});
      move_tile_window(b_window, {0, tile.k});
    };
    const auto wait_for_next_tile = []() TILEWRIGHT_INLINE_LAMBDA {
      exec::async_wait<(Stages - 2) * copies_per_tile>();
      exec::block_sync();
    };

    windows.copy(a_window, b_window, 0);
    unroll<Stages - 2>([&](auto) TILEWRIGHT_INLINE_LAMBDA {
      move_to_next_tile();
      windows.copy(a_window, b_window, filling);
    });
    wait_for_next_tile();
    windows.template load<0, 1>(f, 0);
    TILEWRIGHT_UNROLL(1)
    for (index_t t = 0; t < num_tiles; ++t) {
      constexpr index_t parts = max(steps - 1, 1);
      move_to_next_tile();
      unroll<steps - 1>([&](auto step) TILEWRIGHT_INLINE_LAMBDA {
        windows.template load<step + 1, 1>(f, reading);
        windows.template copy<step, parts>(a_window, b_window, filling);
        block_gemm<tile, step * per_step, per_step>(c, f.a, f.b);
      });
      if constexpr (steps == 1) windows.copy(a_window, b_window, filling);
      operand_fragments<Policy> last = f;
      advance(reading);
      wait_for_next_tile();
      if (t + 1 < num_tiles) windows.template load<0, 1>(f, reading);
      block_gemm<tile, (steps - 1) * per_step, per_step>(c, last.a, last.b);
    }
    exec::async_wait<0>();
  }
};

}  // namespace tilewright
