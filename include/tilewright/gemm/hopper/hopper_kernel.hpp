// SPDX-License-Identifier: MIT
// C = alpha A B + beta C on Hopper GPUs: blocks that stay for many tiles; in each, one warpgroup that starts bulk copies and one or
// two that multiply.
#pragma once

#include <tilewright/gemm/hopper/hopper_epilogue.hpp>
#include <tilewright/gemm/hopper/hopper_pipeline.hpp>

#if TILEWRIGHT_NVPTX_PASS
namespace tilewright {

template <class Policy>
struct hopper_gemm {
  static constexpr hopper_tile tile = Policy::tile;
  static constexpr hopper_lds lds = Policy::lds;
  using pipeline = hopper_pipeline<Policy>;

  /// Two consumers take turns at the end of a tile, for so many k tiles; barriers 1 to 3 are add_up_parts's.
  static constexpr index_t head_start = min(3, Policy::num_stages - 1), turn_barrier = 4;
  static constexpr bool takes_turns = tile.consumers == 2 && head_start > 0;

  const hopper_args& args;
  exec::lds_pointer block_lds;
  pipeline stages;

  /// work(unit, m0, n0) for each unit of work that falls to this block.
  template <class Work>
  TILEWRIGHT_HD void for_each_unit(Work work) const {
    const index_t clusters = index_t(gridDim.x) / tile.cluster();
    for (index_t u = index_t(blockIdx.x) / tile.cluster(); u < args.schedule.num_units(); u += clusters) {
      const work_unit unit = args.schedule(u);
      work(unit, (unit.tile.row * tile.share_b + stages.row()) * tile.m,
           (unit.tile.col * tile.share_a + stages.col()) * tile.n);
    }
  }

  TILEWRIGHT_HD void produce() const {
    typename pipeline::cursor at;
    bool waited = false;
    for_each_unit([&](const work_unit& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      if (!waited) exec::wait_for_previous_kernel();
      waited = true;
      TILEWRIGHT_UNROLL(1)
      for (index_t k = unit.k_begin; k < unit.k_end; ++k, at.advance())
        stages.fill(at, args, m0, n0, k * Policy::tile_k, unit.tile.batch);
    });
  }

  TILEWRIGHT_HD void consume(index_t consumer) const {
    const index_t thread = index_t(threadIdx.x % 128), wave = thread / 32, wave_of_all = consumer * 4 + wave;
    const index_t block_to_tell = stages.block_to_tell(thread);
    hopper_result_writer<Policy> write{args, block_lds + lds.boxes_offset() + wave_of_all * 2 * lds.box_bytes(),
                                       stages.old_has_come(wave_of_all)};
    exec::wait_for_previous_kernel();
    float c[tile.accumulators()];
    typename pipeline::cursor at;
    index_t previous = 0;
    for_each_unit([&](const work_unit& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      // The first consumer finishes the tile first: the second computes while it writes, and it begins the next tile while the
      // second writes.
      const index_t last_to_share = max(unit.k_begin, unit.k_end - head_start);
      TILEWRIGHT_UNROLL(1)
      for (index_t k = unit.k_begin; k < unit.k_end; ++k) {
        if (takes_turns && consumer == 1 && k == last_to_share) exec::named_sync<256>(turn_barrier);
        stages.multiply(at, consumer, c, k > unit.k_begin);
        if (k > unit.k_begin) {
          exec::wgmma_wait<1>();
          stages.release(previous, block_to_tell);
        }
        previous = at.stage;
        at.advance();
      }
      if (takes_turns && consumer == 0) exec::named_arrive<256>(turn_barrier);
      exec::wgmma_wait<0>();
      unroll<tile.accumulators()>([&](auto i) TILEWRIGHT_INLINE_LAMBDA { asm volatile("" : "+f"(c[i])::"memory"); });
      stages.release(previous, block_to_tell);
      if (unit.parts > 1 && !add_up_parts<Policy>(c, args, unit, stages.rank, consumer)) return;
      unroll<tile.repeat_m()>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
        write(c + r * tile.n / 2, m0 + (consumer * tile.repeat_m() + r) * 64 + wave * 16, n0, unit.tile.batch);
      });
    });
    write.wait_for_copies();
    exec::wave_sync();
  }

  TILEWRIGHT_HD void operator()() const {
    const index_t warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);
    if (threadIdx.x == 0) {
      stages.init_barriers();
      exec::prefetch(args.a);
      exec::prefetch(args.b);
      exec::prefetch(args.c);
    }
    exec::wave_sync();
    synchronize();
    exec::let_next_kernel_start();
    if (warpgroup == tile.consumers) {
      if constexpr (tile.consumers > 1) exec::give_registers_back<tile.producer_registers()>();
      if (threadIdx.x == tile.consumers * 128) produce();
      exec::wave_sync();
    } else {
      if constexpr (tile.consumers > 1) exec::take_registers<tile.consumer_registers()>();
      consume(warpgroup);
    }
    // No block leaves while others of its cluster still copy to its LDS or arrive at its barriers.
    if constexpr (tile.cluster() > 1) exec::cluster_sync();
  }

  TILEWRIGHT_HD static void synchronize() {
    if constexpr (tile.cluster() > 1) {
      exec::cluster_sync();
    } else {
      exec::block_sync();
    }
  }
};

}  // namespace tilewright
#endif
