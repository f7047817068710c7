// SPDX-License-Identifier: MIT
// What a consumer of warp_specialized_pipeline does with block-scaled operands.
#pragma once

#include <tilewright/kernels/gemm/hopper/stage_ring.hpp>
#include <tilewright/kernels/gemm/scaled/block_scales.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// Copies the scales of stages to LDS, by one wave: those of A at once, or some rows by each lane; the first lanes have
/// B's. A stage is full once they have arrived, too. That of row m0 is the (m0 modulo 4)-th.
template <class Block>
struct scale_copies {
  static constexpr index_t rows = scale_rows(Block::tile.m),
                           blocks = ceil_div(Block::tile.n, scale_block);  // along n, wherever the tile begins

  const stage_ring<Block>& stages;
  exec::lds_pointer scales;  // of the first stage
  typename stage_ring<Block>::cursor at = {};

  /// Starts those of the tile at (m0, n0) and step k_block, once the stage is empty. What is outside of C is not
  /// stored: any scale will do.
  TILEWRIGHT_HD void start(const typename Block::device_args& device, index_t m0, index_t n0, index_t a_batch,
                           index_t b_batch, index_t k_block) {
    const block_scaled_args& args = device.args;
    constexpr index_t stage_bytes = Block::lds.scale_bytes;
    const index_t lane = exec::lane_id(), skipped = modulo(m0, 4), to = at.stage * stage_bytes + lane * 4;
    const auto one = [](const float* from)
                         TILEWRIGHT_INLINE_LAMBDA { return exec::walking_buffer(exec::make_global_buffer(from, 4)); };
    const float* const a =
        args.a_scales + a_batch * args.batch_stride_a_scales + long_index_t(k_block) * args.k_stride_a_scales;
    const exec::mbarrier full = stages.full(at.stage);
    stages.empty(at.stage).wait(at.phase ^ 1);
    if (device.copies_scales_at_once && lane == 0) {
      full.arrive_and_expect(rows * 4);
      exec::tma_load(exec::lds_address(scales) + unsigned(at.stage * stage_bytes), device.a_scales, full, m0 - skipped,
                     k_block, a_batch);
    }
    for (index_t i = 0; i < Block::tile.m && !device.copies_scales_at_once; i += 32)
      exec::async_load_in_group<4>(one(a + long_index_t(min(m0 + lane + i, args.m - 1)) * args.row_stride_a_scales), 0,
                                   scales, to + (skipped + i) * 4);
    if (lane < blocks) {
      const index_t column = min(divide(n0, scale_block) + lane, divide(args.n - 1, scale_block));
      const float* const b =
          args.b_scales + b_batch * args.batch_stride_b_scales + long_index_t(column) * args.ld_b_scales + k_block;
      exec::async_load_in_group<4>(one(b), 0, scales, to + rows * 4);
    }
    if (lane < device.scale_arrivals(blocks)) full.arrive_after_copies();
    at.advance();
  }
};

/// One consumer and one tile of C: multiplies stage by stage, in parts of some columns, and adds products times scales
/// to the sums. There are registers for the products of two parts: the tensor cores compute one while the other one is
/// added.
template <class Block>
struct scaled_multiply {
  static constexpr block_tile tile = Block::tiles;
  static constexpr index_t part_n = tile.n <= scale_block ? tile.n : 64, parts = tile.n / part_n;
  static_assert(tile.k == scale_block && tile.n % 64 == 0 && Block::tile.repeat_m() == 1,
                "block_scaled: a tile of wgmma has 64 rows for each consumer, a multiple of 64 columns, and 128 of k");
  static constexpr block_tile part{tile.m, part_n, tile.k, tile.waves_m, tile.waves_n, tile.op};
  using products_type = static_distributed_tensor<float, c_distribution<part>>;
  using wave_tile = tile_distribution<number<wave_tile_encoding(part.n / 16, arch::describe(tile.op).c)>::value>;
  using scales_type = block_scales<wave_tile, parts>;
  using values = typename scales_type::values;
  using ring = stage_ring<Block>;
  static constexpr wgmma_operand a_operand = Block::lds.a, b_operand{part.n, Block::lds.b.element_bytes, true};

  const ring& stages;
  exec::lds_pointer block_lds;
  typename Block::sums_type& sums;
  index_t consumer, block_to_tell;
  multi_index<2> origin;           // of the tile
  products_type products[2] = {};  // of parts in turns
  values scales[2] = {};           // of stages in turns
  index_t pending = -1;            // the stage before this one, until it is released

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
    unroll<products_type::num_elements>([&](auto i)
                                            TILEWRIGHT_INLINE_LAMBDA { exec::fence_operand(from.thread_buffer[i]); });
    scales_type::template add<P>(sums.thread_buffer.data(), from.thread_buffer.data(), v);
  }
  /// The scales of a stage: those of the wave's 16 rows.
  TILEWRIGHT_HD values scales_of(index_t stage) const {
    constexpr hopper_gemm_lds lds = Block::lds;
    const exec::lds_pointer begin = block_lds + (lds.scales_offset() + stage * lds.scale_bytes);
    values v =
        scales_type::load_rows(begin + (modulo(origin[0], 4) + consumer * 64 + modulo(exec::wave_id(), 4) * 16) * 4);
    const index_t skipped = tile.n % scale_block == 0 ? 0 : modulo(origin[1], scale_block);  // of the first block
    for (index_t p = 0; p < parts; ++p)
      v.b[p] = exec::lds_load<float>(begin, (scale_rows(tile.m) + divide(skipped + p * part_n, scale_block)) * 4);
    return v;
  }

  /// The wave has read a stage's operands and scales.
  TILEWRIGHT_HD void release(index_t stage) const {
    exec::wave_sync();
    stages.release(stage, block_to_tell);
  }

  /// The products of a stage, which is full; Nth: 0 and 1 in turns. Before the first stage zeros are added: a branch
  /// would make the compiler wait for all products. The scales of `next`, the stage after it, or again this one, are
  /// read meanwhile: LDS is busy with what wgmma reads, so they take long.
  template <index_t Nth>
  TILEWRIGHT_HD void step(number<Nth>, index_t stage, const typename ring::cursor& next) {
    unroll<parts>([&](auto p) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t buffer = (Nth * parts + p.value) % 2;
      start<p.value>(products[buffer], stage);
      exec::wgmma_wait<1>();
      if constexpr (p.value == 0) {
        if (pending >= 0) release(pending);
        add<parts - 1>(products[1 - buffer], scales[1 - Nth]);
        stages.wait_until_full(next);
        scales[1 - Nth] = scales_of(next.stage);
      } else {
        add<p.value - 1>(products[1 - buffer], scales[Nth]);
      }
    });
    pending = stage;
  }
  /// After the last step.
  template <index_t Nth>
  TILEWRIGHT_HD void finish(number<Nth>) {
    exec::wgmma_wait<0>();
    release(pending);
    add<parts - 1>(products[(Nth * parts + parts - 1) % 2], scales[Nth]);
  }
};

/// Sums of the steps of a unit, from stage `at` on. before(k) is called before step k.
template <class Block, class Before>
TILEWRIGHT_HD void multiply_scaled(const typename Block::unit_type& unit, scaled_multiply<Block> multiply,
                                   typename stage_ring<Block>::cursor& at, const Before& before) {
  clear_tile(multiply.sums);
  const auto step = [&](auto parity, index_t k) TILEWRIGHT_INLINE_LAMBDA {
    before(k);
    const typename stage_ring<Block>::cursor now = at;
    at.advance();
    const bool more = k + 1 < unit.k_end;
    multiply.step(parity, now.stage, {more ? at.stage : now.stage, more ? at.phase : now.phase});
  };
  multiply.stages.wait_until_full(at);
  multiply.scales[0] = multiply.scales_of(at.stage);
  TILEWRIGHT_UNROLL(1)
  for (index_t k = unit.k_begin;; k += 2) {
    step(number<0>{}, k);
    if (k + 1 == unit.k_end) return multiply.finish(number<0>{});
    step(number<1>{}, k + 1);
    if (k + 2 == unit.k_end) return multiply.finish(number<1>{});
  }
}

}  // namespace tilewright::detail
#endif
