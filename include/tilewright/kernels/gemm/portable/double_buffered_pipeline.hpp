// SPDX-License-Identifier: MIT
// The loop over k with two LDS buffers: one is multiplied while the next tile is in flight to the other.
#pragma once

#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/block/operands/operand_windows.hpp>

namespace tilewright {

/// One barrier for each tile:
///
///   matrix | t from stage t % 2 |                                    |
///   LDS    | reads of t         | write t + 1 to the other | barrier |
///   global | load t + 1                    |
struct double_buffered_pipeline {
  static constexpr index_t num_stages = 2;         ///< tiles of A and B in LDS
  static constexpr index_t barriers_per_tile = 1;  ///< of a k tile

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
    constexpr block_tile tile = Policy::tile;
    constexpr index_t stage_bytes = detail::lds_stage_bytes<Policy>();
    const operand_windows<Policy> windows(lds);

    const auto multiply = [&](index_t stage) TILEWRIGHT_INLINE_LAMBDA {
      block_gemm<tile>(c, windows.a_read(), windows.b_read(), stage * stage_bytes);
    };
    detail::operand_tiles<AWindow, BWindow> next;
    const auto step = [&](auto stage, index_t a_offset, index_t b_offset) TILEWRIGHT_INLINE_LAMBDA {
      next.load_along_k(a_window, b_window, a_offset, b_offset);
      multiply(stage);
      windows.store(next.a, next.b, (1 - stage) * stage_bytes);
      exec::block_sync();
    };

    next.load(a_window, b_window);
    windows.store(next.a, next.b, 0);
    exec::block_sync();
    move_tile_window(a_window, {0, tile.k});
    move_tile_window(b_window, {0, tile.k});
    multiply(for_tiles<num_stages, 0>(a_window, b_window, num_tiles - 1, step));
  }
};

}  // namespace tilewright
