// SPDX-License-Identifier: MIT
// The stages in LDS that a producer fills with bulk copies and consumers empty with wgmma.
#pragma once

#include <tilewright/gemm/hopper/hopper_args.hpp>
#include <tilewright/gemm/hopper/hopper_tile.hpp>

#if TILEWRIGHT_NVPTX_PASS
#include <tilewright/exec/nvptx/bulk_copy.hpp>
#include <tilewright/exec/nvptx/wgmma.hpp>

namespace tilewright {

/// A stage, and whether its barriers are in an even or odd round.
template <index_t NumStages>
struct stage_cursor {
  index_t stage = 0;
  unsigned parity = 0;

  TILEWRIGHT_HD void advance() {
    if (++stage == NumStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

template <class Policy>
struct hopper_pipeline {
  using T = typename Policy::element_type;
  static constexpr hopper_tile tile = Policy::tile;
  static constexpr hopper_lds lds = Policy::lds;
  static constexpr index_t num_stages = Policy::num_stages;
  using cursor = stage_cursor<num_stages>;

  unsigned base;  // of the block's LDS

  TILEWRIGHT_HD unsigned a_stage(index_t s) const { return base + s * lds.stage_bytes(); }
  TILEWRIGHT_HD unsigned b_stage(index_t s) const { return a_stage(s) + lds.a.bytes(); }
  /// All bytes of a stage have come.
  TILEWRIGHT_HD exec::mbarrier full(index_t s) const {
    return {base + lds.barriers_offset() + s * exec::mbarrier::bytes};
  }
  /// All consumers that read a stage, in each block that this block's copies write to, are done with it.
  TILEWRIGHT_HD exec::mbarrier empty(index_t s) const { return full(num_stages + s); }

  /// A box of the old C has come for a wave.
  TILEWRIGHT_HD exec::mbarrier old_has_come(index_t wave) const { return full(2 * num_stages + wave); }

  TILEWRIGHT_HD void init_barriers() const {
    for (index_t s = 0; s < num_stages; ++s) {
      full(s).init(1);
      empty(s).init(tile.consumers() * tile.sharing);
    }
    for (index_t wave = 0; wave < 4 * tile.consumers(); ++wave) old_has_come(wave).init(1);
    exec::fence_barrier_init();
  }

  /// One thread: waits until the stage is empty, then starts the copies of a k tile to it.
  TILEWRIGHT_HD void fill(const cursor& at, const hopper_args& args, index_t m0, index_t n0, index_t k0,
                          index_t batch) const {
    const exec::mbarrier done = full(at.stage);
    empty(at.stage).wait(at.parity ^ 1);
    done.arrive_and_expect(lds.stage_bytes());
    if constexpr (Policy::a_major == operand_major::k) {
      exec::bulk_load(a_stage(at.stage), args.a, done, k0, m0, batch);
    } else {
      for (index_t box = 0; box < lds.a.num_boxes(); ++box) {
        exec::bulk_load(a_stage(at.stage) + box * lds.a.box_bytes(), args.a, done, m0 + box * lds.a.k(), k0, batch);
      }
    }
    // Each of the blocks that share B fetches a part of it for all of them.
    const index_t rank = tile.sharing > 1 ? exec::block_of_cluster() : 0;
    const auto load_b = [&](index_t byte_offset, index_t x, index_t y) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (tile.sharing > 1) {
        exec::bulk_load_multicast(b_stage(at.stage) + byte_offset, args.b, done, (1u << tile.sharing) - 1, x, y, batch);
      } else {
        exec::bulk_load(b_stage(at.stage) + byte_offset, args.b, done, x, y, batch);
      }
    };
    if constexpr (Policy::b_major == operand_major::k) {
      constexpr index_t rows = tile.n / tile.sharing;
      load_b(rank * rows * lds.b.row_bytes, k0, n0 + rank * rows);
    } else {
      for (index_t box = rank; box < lds.b.num_boxes(); box += tile.sharing)
        load_b(box * lds.b.box_bytes(), n0 + box * lds.b.k(), k0);
    }
  }

  /// A consumer: starts c (+)= its rows of the stage's A times the stage's B, once the stage is full.
  TILEWRIGHT_HD void multiply(const cursor& at, index_t consumer, float* c, bool accumulate) const {
    constexpr unsigned long long a_fields = lds.a.descriptor_fields(), b_fields = lds.b.descriptor_fields();
    full(at.stage).wait(at.parity);
    const unsigned long long a = wgmma_descriptor(a_fields, a_stage(at.stage) + consumer * 64 * lds.a.row_bytes);
    const unsigned long long b = wgmma_descriptor(b_fields, b_stage(at.stage));
    exec::wgmma_fence();
    unroll<Policy::tile_k / lds.a.instruction_k()>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      constexpr bool transpose_a = !lds.a.k_is_contiguous, transpose_b = !lds.b.k_is_contiguous;
      exec::wgmma<tile.n, T, transpose_a, transpose_b>(c, a + i * lds.a.instruction_step_bytes() / 16,
                                                       b + i * lds.b.instruction_step_bytes() / 16,
                                                       accumulate || i > 0);
    });
    exec::wgmma_commit();
  }

  /// A consumer has read the stage: says so to every producer that copies to it.
  TILEWRIGHT_HD void release(index_t stage, index_t thread_of_consumer) const {
    if constexpr (tile.sharing > 1) {
      if (thread_of_consumer < tile.sharing) empty(stage).arrive_at(thread_of_consumer);
    } else {
      if (thread_of_consumer == 0) empty(stage).arrive();
    }
  }
};

}  // namespace tilewright
#endif
