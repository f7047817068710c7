// SPDX-License-Identifier: MIT
// What a consumer of warp_specialized_pipeline does with block-scaled operands.
#pragma once

#include <tilewright/gemm/block_scales.hpp>
#include <tilewright/gemm/stage_ring.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// One consumer and one tile of C: multiplies stage by stage, and adds products times scales to the sums. With
/// registers for the products of two steps the tensor cores go on meanwhile; else another consumer keeps them busy.
template <class Block>
struct scaled_multiply {
  static constexpr block_tile tile = Block::tiles;
  static constexpr index_t parts = scaled_parts<tile>(), depth = parts == 1 && Block::tile.consumers < 3 ? 2 : 1;
  static constexpr block_tile part{tile.m, tile.n / parts, tile.k, tile.waves_m, tile.waves_n, tile.op};
  static_assert(Block::tile.repeat_m() == 1, "block_scaled: a tile of wgmma has 64 rows for each consumer");
  using products_type = static_distributed_tensor<float, c_distribution<part>>;
  using wave_tile = tile_distribution<number<wave_tile_encoding(part.n / 16, arch::describe(tile.op).c)>::value>;
  using scales_type = block_scales<wave_tile, parts>;
  using values = typename scales_type::values;
  using ring = stage_ring<Block>;
  static constexpr wgmma_operand a_operand = Block::lds.a, b_operand{part.n, Block::lds.b.element_bytes, true};

  const ring& stages;
  const scales_type& scales;  // of the wave's 16 rows
  typename Block::sums_type& sums;
  index_t consumer, block_to_tell;
  products_type products[depth] = {};
  values now[depth] = {}, next = {};
  index_t pending = -1;  // the stage whose products are in flight

  /// Starts products of part P of a stage.
  template <index_t P>
  TILEWRIGHT_HD void start(products_type& to, index_t stage) const {
    const wgmma_tile_in_lds<a_operand> a{stages.a_stage(stage) + unsigned(consumer * 64 * a_operand.row_bytes)};
    const wgmma_tile_in_lds<b_operand> b{stages.b_stage(stage) + unsigned(P * b_operand.bytes())};
    block_gemm<part, typename Block::element_type>(to, a, b, false);
  }
  /// Adds part P, whose products are complete.
  template <index_t P>
  TILEWRIGHT_HD void add(products_type& from, const values& v) const {
    unroll<products_type::num_elements>([&](auto i) TILEWRIGHT_INLINE_LAMBDA { exec::settle(from.thread_buffer[i]); });
    scales_type::template add<P>(sums.thread_buffer.data(), from.thread_buffer.data(), v);
  }

  /// The products of the stage at `at`, which is full, in buffer I; scales of step next_k are loaded for the one after.
  template <index_t I>
  TILEWRIGHT_HD void step(number<I>, index_t stage, index_t next_k) {
    now[I] = next;
    if constexpr (depth == 2) {
      start<0>(products[I], stage);
      next = scales.load(next_k);
      if (pending >= 0) {
        exec::wgmma_wait<1>();
        stages.release(pending, block_to_tell);
        add<0>(products[1 - I], now[1 - I]);
      }
      pending = stage;
    } else {
      unroll<parts>([&](auto p) TILEWRIGHT_INLINE_LAMBDA {
        start<p.value>(products[0], stage);
        if constexpr (p.value == 0) next = scales.load(next_k);
        exec::wgmma_wait<0>();
        if constexpr (p.value + 1 == parts) stages.release(stage, block_to_tell);
        add<p.value>(products[0], now[0]);
      });
    }
  }
  /// After the last step, which used buffer I.
  template <index_t I>
  TILEWRIGHT_HD void finish(number<I>) {
    if constexpr (depth == 2) {
      exec::wgmma_wait<0>();
      stages.release(pending, block_to_tell);
      add<0>(products[I], now[I]);
    }
  }
};

/// Sums of the steps of a unit, from stage `at` on. k_of(k): which step is the k-th; before(k) is called before it.
template <class Block, class KOf, class Before>
TILEWRIGHT_HD void multiply_scaled(const typename Block::unit_type& unit, scaled_multiply<Block> multiply,
                                   typename stage_ring<Block>::cursor& at, const KOf& k_of, const Before& before) {
  constexpr index_t last_buffer = scaled_multiply<Block>::depth - 1;
  clear_tile(multiply.sums);
  multiply.next = multiply.scales.load(k_of(unit.k_begin));
  const auto step = [&](auto buffer, index_t k) TILEWRIGHT_INLINE_LAMBDA {
    before(k);
    multiply.stages.wait_until_full(at);
    multiply.step(buffer, at.stage, k_of(min(k + 1, unit.k_end - 1)));
    at.advance();
  };
  TILEWRIGHT_UNROLL(1)
  for (index_t k = unit.k_begin;; ++k) {
    step(number<0>{}, k);
    if (k + 1 == unit.k_end) return multiply.finish(number<0>{});
    if constexpr (last_buffer == 1) {
      step(number<1>{}, ++k);
      if (k + 1 == unit.k_end) return multiply.finish(number<1>{});
    }
  }
}

}  // namespace tilewright::detail
#endif
