// SPDX-License-Identifier: MIT
// The loop over k with several LDS buffers that are filled without registers: while one tile is computed with, the next ones travel.
#pragma once

#include <tilewright/gemm/k_tiles.hpp>
#include <tilewright/gemm/operand_windows.hpp>

namespace tilewright {

/// One barrier for each tile. Operands are read one step along k before they are multiplied; the first step of a tile is read while
/// the last one of the tile before it is multiplied.
template <index_t Stages>
struct multi_stage_pipeline {
  static_assert(Stages >= 2, "multi_stage_pipeline: one tile is computed with while another one travels, so at least 2 stages are needed");
  static constexpr index_t num_stages = Stages;
  static constexpr bool copies_directly = true;

  /// Adds the product of the operands that the windows slide over to c. Windows are (rows, k) and begin at the first tile.
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    constexpr block_tile tile = Policy::tile;
    constexpr index_t steps = num_k_steps(tile), per_step = matrix_instructions_per_step<tile>;
    constexpr index_t stage_bytes = lds_stage_bytes<Policy>(), copies_per_tile = AWindow::num_access + BWindow::num_access;
    const operand_windows<Policy> windows(lds);
    operand_fragments<Policy> f;

    const auto advance = [](index_t& stage) TILEWRIGHT_INLINE_LAMBDA {
      stage += stage_bytes;
      if (stage == Stages * stage_bytes) stage = 0;
    };
    index_t begun = 1, filling = 0, reading = 0;  // tiles whose copies have begun; LDS buffers, in bytes
    const auto begin_next_tile = [&] TILEWRIGHT_INLINE_LAMBDA {
      if (begun == num_tiles) return;
      ++begun;
      advance(filling);
      move_tile_window(a_window, {0, tile.k});
      move_tile_window(b_window, {0, tile.k});
      windows.copy(a_window, b_window, filling, known_inside<1>{});
    };
    // Copies complete in the order in which they began. Behind the tile that is waited for there are at most Stages - 2.
    const auto wait_for_tile = [&](index_t t) TILEWRIGHT_INLINE_LAMBDA {
      if (t + Stages - 1 <= begun && Stages > 2) {
        exec::async_wait<(Stages - 2) * copies_per_tile>();
      } else {
        exec::async_wait<0>();
      }
      exec::block_sync();
    };

    windows.copy(a_window, b_window, 0, known_inside<>{});
    unroll<Stages - 2>([&](auto) TILEWRIGHT_INLINE_LAMBDA { begin_next_tile(); });
    wait_for_tile(0);
    windows.template load<0, 1>(f, 0);
    TILEWRIGHT_UNROLL(1)
    for (index_t t = 0; t < num_tiles; ++t) {
      unroll<steps - 1>([&](auto step) TILEWRIGHT_INLINE_LAMBDA {
        windows.template load<step + 1, 1>(f, reading);
        if constexpr (step == 0) begin_next_tile();
        block_gemm<tile, step * per_step, per_step>(c, f.a, f.b);
      });
      operand_fragments<Policy> last = f;
      if (t + 1 < num_tiles) {
        if constexpr (steps == 1) begin_next_tile();
        advance(reading);
        wait_for_tile(t + 1);
        windows.template load<0, 1>(f, reading);
      }
      block_gemm<tile, (steps - 1) * per_step, per_step>(c, last.a, last.b);
    }
  }
};

}  // namespace tilewright
