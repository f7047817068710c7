// SPDX-License-Identifier: MIT
// The ring of stages in LDS that a producer fills with bulk copies and consumers multiply with wgmma.
#pragma once

#include <tilewright/block/mma/wgmma_gemm.hpp>
#include <tilewright/block/pipeline/mbarrier_pipeline.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/kernels/gemm/scaled/block_scales.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// Waits and copies of the stages of one block. Block is a hopper_gemm_block.
template <class Block>
struct stage_ring {
  static constexpr hopper_gemm_tile tile = Block::tile;
  static constexpr hopper_gemm_lds lds = Block::lds;
  static constexpr index_t num_stages = Block::num_stages;
  using cursor = pipeline_state<num_stages>;
  /// Waves of a consumer that release a stage. wgmma ends for all four at once, but each reads its own scales.
  static constexpr index_t waves_that_release = Block::is_block_scaled ? 4 : 1;

  unsigned base;  // of the block's LDS
  index_t rank;   // of the block in its cluster; blocks that share B come first

  /// The block's place among those that share B, and among those that share A.
  TILEWRIGHT_HD index_t row() const { return tile.cluster_m > 1 ? rank % tile.cluster_m : 0; }
  TILEWRIGHT_HD index_t col() const { return tile.cluster_n > 1 ? rank / tile.cluster_m : 0; }

  TILEWRIGHT_HD unsigned a_stage(index_t s) const { return base + s * lds.stage_bytes(); }
  TILEWRIGHT_HD unsigned b_stage(index_t s) const { return a_stage(s) + lds.a.bytes(); }
  /// All bytes of a stage have come.
  TILEWRIGHT_HD exec::mbarrier full(index_t s) const {
    return {base + lds.barriers_offset() + s * exec::mbarrier::bytes};
  }
  /// All consumers that read a stage, in each block that this block's copies write to, are done with it.
  TILEWRIGHT_HD exec::mbarrier empty(index_t s) const { return full(num_stages + s); }

  TILEWRIGHT_HD void init_barriers([[maybe_unused]] const typename Block::device_args& args) const {
    for (index_t s = 0; s < num_stages; ++s) {
      index_t arrivals = tile.unaligned ? lds.groups_of_stage() : 1;
      if constexpr (Block::is_block_scaled)
        arrivals += args.copies_scales_at_once + args.scale_arrivals(ceil_div(tile.n, scale_block));
      full(s).init(arrivals);
      empty(s).init(tile.consumers_per_tile() * waves_that_release * (tile.cluster_m + tile.cluster_n - 1));
    }
  }

  /// One thread: waits until the stage is empty, then starts the copies of a k tile to it. a_z and b_z: the boxes' last
  /// coordinates.
  TILEWRIGHT_HD void fill(const cursor& at, const typename Block::device_args& args, index_t m0, index_t n0, index_t k0,
                          index_t a_z, index_t b_z) const {
    // Bits of the blocks that share B, or A, with the first one.
    constexpr unsigned with_b = (1u << tile.cluster_m) - 1, with_a = ((1u << tile.cluster()) - 1) / with_b;
    const exec::mbarrier done = full(at.stage);
    empty(at.stage).wait(at.phase ^ 1);
    done.arrive_and_expect(lds.stage_bytes());
    const auto a = Block::a_source(args, a_z);
    load<lds.a, tile.cluster_n, tile.cluster_n>(a_stage(at.stage), a.map, done, col(), with_a << row(), m0, k0, a.z);
    // Each product has its part of the tile's rows of B.
    constexpr wgmma_operand b = lds.b_of_product();
    unroll<tile.products>([&](auto p) TILEWRIGHT_INLINE_LAMBDA {
      load<b, tile.cluster_m, tile.b_loaders()>(b_stage(at.stage) + p * b.bytes(), args.b[p], done, row(),
                                                with_b << col() * tile.cluster_m, n0, k0, b_z);
    });
  }

  /// This block's part of an operand, to all `Sharers` blocks that share it; if k is contiguous, the first `Copies` of
  /// them have parts.
  template <wgmma_operand Operand, index_t Sharers, index_t Copies, class Map>
  TILEWRIGHT_HD static void load(unsigned to, const Map& from, exec::mbarrier done, index_t part, unsigned blocks,
                                 index_t row0, index_t k0, index_t z) {
    const auto copy = [&](unsigned place, index_t x, index_t y) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (Sharers > 1) {
        exec::tma_load_multicast(place, from, done, blocks, x, y, z);
      } else {
        exec::tma_load(place, from, done, x, y, z);
      }
    };
    if constexpr (Operand.k_is_contiguous) {
      constexpr index_t rows = Operand.rows / Copies;
      if (Copies == Sharers || part < Copies) copy(to + part * rows * Operand.row_bytes, k0, row0 + part * rows);
    } else {
      for (index_t box = part; box < Operand.num_boxes(); box += Sharers)
        copy(to + box * Operand.box_bytes(), row0 + box * Operand.k(), k0);
    }
  }

  /// Waves that store to a stage do not fence: they would wait for all copies that they have in flight.
  TILEWRIGHT_HD void wait_until_full(const cursor& at) const {
    full(at.stage).wait(at.phase);
    if constexpr (tile.unaligned) exec::fence_async_proxy();
  }

  /// A consumer: starts sums (+)= its rows of the stage's A times the stage's B; the stage is full.
  TILEWRIGHT_HD void multiply(const cursor& at, index_t consumer, typename Block::sums_type& sums,
                              bool accumulate) const {
    const wgmma_tile_in_lds<lds.a> a{a_stage(at.stage) + unsigned(consumer * 64 * lds.a.row_bytes)};
    const wgmma_tile_in_lds<lds.b> b{b_stage(at.stage)};
    block_gemm<Block::tiles, typename Block::element_type>(sums, a, b, accumulate);
  }

  /// The block whose producer this thread of a consumer tells that a stage is empty: each that copies to it; -1: none.
  TILEWRIGHT_HD index_t block_to_tell(index_t thread) const {
    // The last lanes of a wave, which racecheck takes for those that read what all lanes read.
    if constexpr (waves_that_release == 4) thread = 31 - modulo(thread, 32);
    if (thread < tile.cluster_m) return col() * tile.cluster_m + thread;
    const index_t other = thread - tile.cluster_m;
    return other < tile.cluster_n - 1 ? (other + (other >= col())) * tile.cluster_m + row() : -1;
  }

  /// A consumer has read a stage.
  TILEWRIGHT_HD void release(index_t stage, index_t block_to_tell) const {
    if (block_to_tell < 0) return;
    if constexpr (tile.cluster_m * tile.cluster_n > 1) {
      empty(stage).arrive_at(block_to_tell);
    } else {
      empty(stage).arrive();
    }
  }
};

}  // namespace tilewright::detail
#endif
