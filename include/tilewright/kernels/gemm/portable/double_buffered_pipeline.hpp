// SPDX-License-Identifier: MIT
// The loop over k with two LDS buffers: one is multiplied while the next tile is in flight to the other.
#pragma once

#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/block/operands/operand_windows.hpp>

namespace tilewright {

/// One barrier for each tile.
struct double_buffered_pipeline {
  static constexpr index_t num_stages = 2;
  static constexpr index_t barriers_per_tile = 1;

  /// Estimated registers of a thread.
  template <class Policy>
  static constexpr index_t registers() {
    return detail::estimated_registers<Policy>(detail::steps_in_registers<Policy>(), 1);
  }

  /// c += A B. The windows are (rows, k), with the policy's distributions, and at the first of num_tiles tiles along k.
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    require_operand_windows<Policy, AWindow, BWindow>();
    constexpr block_tile tile = Policy::tile;
    constexpr index_t stage_bytes = detail::lds_stage_bytes<Policy>();
    const operand_windows<Policy> windows(lds);

    const auto compute = [&](index_t stage) TILEWRIGHT_INLINE_LAMBDA {
      block_gemm<tile>(c, windows.a_read(), windows.b_read(), stage * stage_bytes);
    };
    detail::tile_of<AWindow> a_next;
    detail::tile_of<BWindow> b_next;
    // Tile t + 1 is in flight while tile t is multiplied.
    const auto step = [&](auto stage, index_t a_offset, index_t b_offset) TILEWRIGHT_INLINE_LAMBDA {
      load_tile_along_k(a_next, a_window, a_offset, in_bounds<1>{});
      load_tile_along_k(b_next, b_window, b_offset, in_bounds<1>{});
      compute(stage);
      windows.store(a_next, b_next, (1 - stage) * stage_bytes);
      exec::block_sync();
    };

    load_tile(a_next, a_window);
    load_tile(b_next, b_window);
    windows.store(a_next, b_next, 0);
    exec::block_sync();
    move_tile_window(a_window, {0, tile.k});
    move_tile_window(b_window, {0, tile.k});
    compute(for_tiles<num_stages, 0>(a_window, b_window, num_tiles - 1, step));
  }
};

}  // namespace tilewright
