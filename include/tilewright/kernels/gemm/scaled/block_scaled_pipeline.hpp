// SPDX-License-Identifier: MIT
// Block-scaled products: the policy, and the loop over k where all waves multiply.
#pragma once

#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/block/operands/operand_windows.hpp>
#include <tilewright/kernels/gemm/scaled/block_scales.hpp>

namespace tilewright {

namespace detail {

/// One stage in LDS; the next Ahead tiles are in flight to registers while one is multiplied. Its products have
/// registers of their own.
template <block_tile Tile, index_t Ahead>
struct block_scaled_pipeline {
  static constexpr index_t num_stages = 1;
  static_assert(Tile.k == scale_block && scale_block % Tile.n == 0,
                "block_scaled: the block tile must have 128 of k, and columns that divide 128");
  using scales_type = block_scales<c_distribution<Tile>, 1>;

  /// c += A B, scaled. The windows are (rows, k), with the policy's distributions, at the first of num_tiles tiles.
  template <class Policy, class AWindow, class BWindow, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<float, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds, const scales_type& scales) {
    require_operand_windows<Policy, AWindow, BWindow>();
    const operand_windows<Policy> windows(lds);
    operand_tiles<AWindow, BWindow> tiles[Ahead];
    // Beyond the last tile everything is outside of the tensors.
    const auto load_next = [&](operand_tiles<AWindow, BWindow>& tile) TILEWRIGHT_INLINE_LAMBDA {
      tile.load(a_window, b_window);
      move_tile_window(a_window, {0, Tile.k});
      move_tile_window(b_window, {0, Tile.k});
    };
    const auto multiply = [&](operand_tiles<AWindow, BWindow>& tile, index_t t) TILEWRIGHT_INLINE_LAMBDA {
      windows.store(tile.a, tile.b, 0);
      exec::block_sync();
      const typename scales_type::values now = scales.load(t);
      load_next(tile);
      static_distributed_tensor<float, C> products{};
      block_gemm<Tile>(products, windows.a_read(), windows.b_read());
      exec::block_sync();
      scales_type::template add<0>(c.thread_buffer.data(), products.thread_buffer.data(), now);
    };
    unroll<Ahead>([&](auto i) TILEWRIGHT_INLINE_LAMBDA { load_next(tiles[i.value]); });
    TILEWRIGHT_UNROLL(1)
    for (index_t t = 0; t < num_tiles; t += Ahead)
      unroll<Ahead>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
        if (i.value == 0 || t + i.value < num_tiles) multiply(tiles[i.value], t + i.value);
      });
  }
};

template <block_tile Tile, index_t Stages>
struct block_scaled_stages;

/// The pipeline for a policy's tile, by the policy's own. Named only where it is used: tiles of wgmma have no such
/// pipeline.
template <block_tile Tile, index_t Ahead, class Pipeline>
struct scaled_by_all_waves {
  using pipeline = block_scaled_pipeline<Tile, Ahead>;
};
template <block_tile Tile, index_t Ahead, index_t Stages>
struct scaled_by_all_waves<Tile, Ahead, multi_stage_pipeline<Stages>> {
  using pipeline = block_scaled_stages<Tile, Stages>;
};

}  // namespace detail

/// A policy whose operands have scales for blocks of 128 along k: A for each row, B for 128 columns. Its tiles have 128
/// of k; their products are multiplied by the scales and added to the accumulators in f32, outside of the matrix
/// instructions. With multi_stage_pipeline tiles are copied to LDS without registers (block_scaled_stages.hpp). Other
/// pipelines are replaced by one with one stage in LDS and Ahead >= 1 tiles in flight to registers.
template <class Policy, index_t Ahead = 1>
struct block_scaled : Policy {
  using args_type = block_scaled_args;
  using pipeline = typename detail::conditional_t<
      arch::is_wgmma(Policy::tile.op), Policy,
      detail::scaled_by_all_waves<Policy::tile, Ahead, typename Policy::pipeline>>::pipeline;
  static constexpr bool is_block_scaled = true;  ///< run() takes scales
};

}  // namespace tilewright
