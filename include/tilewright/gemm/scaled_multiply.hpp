// SPDX-License-Identifier: MIT
// What a consumer of warp_specialized_pipeline does with a stage of block-scaled operands.
#pragma once

#include <tilewright/gemm/block_scales.hpp>
#include <tilewright/gemm/stage_ring.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// One consumer. While one multiplies, the other adds its products to its sums.
template <class Block>
struct scaled_multiply {
  static constexpr block_tile tile = Block::tiles;
  static constexpr index_t parts = scaled_parts<tile>();
  static constexpr block_tile part{tile.m, tile.n / parts, tile.k, tile.waves_m, tile.waves_n, tile.op};
  static_assert(Block::tile.repeat_m() == 1, "block_scaled: a tile of wgmma has 64 rows for each consumer");
  using products_type = static_distributed_tensor<float, c_distribution<part>>;
  using wave_tile = tile_distribution<number<wave_tile_encoding(part.n / 16, arch::describe(tile.op).c)>::value>;
  static constexpr wgmma_operand a_operand = Block::lds.a, b_operand{part.n, Block::lds.b.element_bytes, true};

  block_scales<wave_tile, parts> scales;  // of the wave's 16 rows

  /// sums += the consumer's rows of a stage's A times its B, scaled as step k_block; the stage must be full, and is no
  /// longer needed when done() is called.
  template <class Done>
  TILEWRIGHT_HD void operator()(unsigned a_stage, unsigned b_stage, index_t consumer, typename Block::sums_type& sums,
                                index_t k_block, Done done) const {
    const wgmma_tile_in_lds<a_operand> a{a_stage + unsigned(consumer * 64 * a_operand.row_bytes)};
    typename block_scales<wave_tile, parts>::values now;
    unroll<parts>([&](auto p) TILEWRIGHT_INLINE_LAMBDA {
      products_type products;
      const wgmma_tile_in_lds<b_operand> b{b_stage + unsigned(p.value * b_operand.bytes())};
      block_gemm<part, typename Block::element_type>(products, a, b, false);
      if constexpr (p.value == 0) now = scales.load(k_block);
      exec::wgmma_wait<0>();
      unroll<products_type::num_elements>([&](auto i)
                                              TILEWRIGHT_INLINE_LAMBDA { exec::settle(products.thread_buffer[i]); });
      if constexpr (p.value + 1 == parts) done();
      block_scales<wave_tile, parts>::template add<p.value>(sums.thread_buffer.data(), products.thread_buffer.data(),
                                                            now);
    });
  }
};

}  // namespace tilewright::detail
#endif
