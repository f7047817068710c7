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
    float c[tile.n / 2];
    typename pipeline::cursor at;
    for_each_unit([&](const work_unit& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      stages.multiply(at, consumer, c, false);
      TILEWRIGHT_UNROLL(1)
      for (index_t k = unit.k_begin + 1; k < unit.k_end; ++k) {
        const index_t previous = at.stage;
        at.advance();
        stages.multiply(at, consumer, c, true);
        exec::wgmma_wait<1>();
        stages.release(previous, block_to_tell);
      }
      exec::wgmma_wait<0>();
      unroll<tile.n / 2>([&](auto i) TILEWRIGHT_INLINE_LAMBDA { asm volatile("" : "+f"(c[i])::"memory"); });
      stages.release(at.stage, block_to_tell);
      at.advance();
      if (unit.parts > 1 && !add_up_parts<Policy>(c, args, unit, stages.rank, consumer)) return;
      write(c, m0 + consumer * 64 + wave * 16, n0, unit.tile.batch);
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
    if (warpgroup == tile.consumers()) {
      if constexpr (tile.consumers() > 1) exec::give_registers_back<40>();
      if (threadIdx.x == tile.consumers() * 128) produce();
      exec::wave_sync();
    } else {
      if constexpr (tile.consumers() > 1) exec::take_registers<232>();
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
