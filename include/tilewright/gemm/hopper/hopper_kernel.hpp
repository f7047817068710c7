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

  /// k tiles of this block: all, or its part of them.
  TILEWRIGHT_HD index_t k_begin(index_t part) const {
    return tile.split_k == 1 ? part * args.k_tiles : part * args.k_tiles / tile.split_k;
  }

  /// work(m0, n0, batch) for each tile of C that falls to this block.
  template <class Work>
  TILEWRIGHT_HD void for_each_tile(Work work) const {
    const index_t clusters = index_t(gridDim.x) / tile.cluster();
    for (index_t t = index_t(blockIdx.x) / tile.cluster(); t < args.order.num_tiles(); t += clusters) {
      const tile_position at = args.order(t);
      work((at.row * tile.share_b + stages.row()) * tile.m, (at.col * tile.share_a + stages.col()) * tile.n, at.batch);
    }
  }

  TILEWRIGHT_HD void produce() const {
    const index_t part = tile.split_k > 1 ? stages.rank : 0, begin = k_begin(part), end = k_begin(part + 1);
    typename pipeline::cursor at;
    for_each_tile([&](index_t m0, index_t n0, index_t batch) TILEWRIGHT_INLINE_LAMBDA {
      TILEWRIGHT_UNROLL(1)
      for (index_t k = begin; k < end; ++k, at.advance()) stages.fill(at, args, m0, n0, k * Policy::tile_k, batch);
    });
  }

  TILEWRIGHT_HD void consume(index_t consumer) const {
    const index_t thread = index_t(threadIdx.x % 128), wave = thread / 32;
    const index_t part = tile.split_k > 1 ? stages.rank : 0, k_count = k_begin(part + 1) - k_begin(part);
    const index_t block_to_tell = stages.block_to_tell(thread);
    const index_t wave_of_all = consumer * 4 + wave;
    hopper_result_writer<Policy> write{args, block_lds + lds.boxes_offset() + wave_of_all * 2 * lds.box_bytes(),
                                       stages.old_has_come(wave_of_all)};
    float c[tile.n / 2];
    typename pipeline::cursor at;
    for_each_tile([&](index_t m0, index_t n0, index_t batch) TILEWRIGHT_INLINE_LAMBDA {
      stages.multiply(at, consumer, c, false);
      TILEWRIGHT_UNROLL(1)
      for (index_t k = 1; k < k_count; ++k) {
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

      const index_t row = m0 + consumer * 64 + wave * 16;
      if constexpr (tile.split_k == 1) {
        write(c, row, n0, batch);
      } else {
        add_up_in_cluster<Policy>(c, stages.base, consumer);
        unroll<tile.split_k>([&](auto s) TILEWRIGHT_INLINE_LAMBDA {
          if (s == stages.rank) write(c + s * tile.result_n() / 2, row, n0 + s * tile.result_n(), batch);
        });
      }
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
    exec::wait_for_previous_kernel();
    if (warpgroup == tile.consumers()) {
      if constexpr (tile.consumers() > 1) exec::give_registers_back<40>();
      if (threadIdx.x == tile.consumers() * 128) produce();
      exec::wave_sync();
      if constexpr (tile.split_k > 1) {  // takes part in the barriers of add_up_in_cluster
        exec::cluster_sync();
        exec::cluster_sync();
      }
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
