// SPDX-License-Identifier: MIT
// The loop over k of block-scaled products whose tiles are copied to several stages in LDS, without registers.
#pragma once

#include <tilewright/block/operands/stage_copies.hpp>
#include <tilewright/kernels/gemm/scaled/block_scales.hpp>

namespace tilewright::detail {

/// The pipeline of a block_scaled policy with multi_stage_pipeline<Stages>. One barrier for each tile:
///
///   copies | wait t, barrier | issue t + Stages - 1   |
///   scales | of t arrived    | load those of t + 1    |
///   LDS    |                 | read t, a step ahead   |
///   matrix |                 | all steps of t         | add the products, scaled
///
/// Tiles have scales of their own, so that the last one may be partial: its copies are checked, as the first ones'.
template <block_tile Tile, index_t Stages>
struct block_scaled_stages {
  static constexpr index_t num_stages = Stages;
  static_assert(Tile.k == scale_block && scale_block % Tile.n == 0,
                "block_scaled: the block tile must have 128 of k, and columns that divide 128");
  using scales_type = block_scales<c_distribution<Tile>, 1>;

  /// c += A B, scaled. The windows are (rows, k), with the policy's distributions, at the first of num_tiles tiles.
  template <class Policy, class AWindow, class BWindow, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<float, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds, const scales_type& scales) {
    require_operand_windows<Policy, AWindow, BWindow>();
    constexpr index_t stage_bytes = lds_stage_bytes<Policy>();
    using copies_type = stage_copies<Policy, Stages, AWindow, BWindow>;
    const operand_windows<Policy> windows(lds);
    const auto move = [&](index_t tiles) TILEWRIGHT_INLINE_LAMBDA {
      move_tile_window(a_window, {0, tiles * Tile.k});
      move_tile_window(b_window, {0, tiles * Tile.k});
    };

    typename scales_type::values next = scales.load(0);
    unroll<Stages - 1>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      copies_type first(a_window, b_window, windows, lds);
      first.issue(i * stage_bytes, i.value < num_tiles);
      first.commit(false);
      move(1);
    });
    copies_type copies(a_window, b_window, windows, lds);
    move(num_tiles - Stages);  // to the last tile
    index_t current = 0, free = (Stages - 1) * stage_bytes;
    TILEWRIGHT_UNROLL(1)
    for (index_t left = num_tiles; left > 0; --left) {
      copies.wait_for_tile();
      const typename scales_type::values now = arrived(next);
      next = scales.load(min(num_tiles - left + 1, num_tiles - 1));
      if (left == Stages) copies = copies_type(a_window, b_window, windows, lds);
      copies.issue(free, left >= Stages);
      copies.commit(left > Stages);
      static_distributed_tensor<float, C> products{};
      block_gemm<Tile>(products, windows.a_read(), windows.b_read(), current);
      scales_type::template add<0>(c.thread_buffer.data(), products.thread_buffer.data(), now);
      free = current;
      current = current + stage_bytes == Stages * stage_bytes ? 0 : current + stage_bytes;
    }
    copies.wait_for_all();
  }

 private:
  /// Scales that the wait for a tile's copies has waited for as well, because they were loaded before. The compiler
  /// does not know that: it waits here, for nothing, and not where they are used, for copies issued since.
  TILEWRIGHT_HD static typename scales_type::values arrived(typename scales_type::values v) {
    for (float& scale : v.a.thread_buffer) scale = bit_cast<float>(exec::opaque(bit_cast<index_t>(scale)));
    return v;
  }
};

}  // namespace tilewright::detail
