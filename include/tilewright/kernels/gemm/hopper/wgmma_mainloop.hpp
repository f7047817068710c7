// SPDX-License-Identifier: MIT
// Role mma: the loop over k of a consumer, which multiplies stages with wgmma.
#pragma once

#include <tilewright/kernels/gemm/hopper/consumer_order.hpp>
#include <tilewright/kernels/gemm/hopper/operand_pipeline.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// MMAs of k tile k run while those of k tile k + 1 are issued; so a stage is released one k tile late.
template <class Block>
struct wgmma_mainloop {
  static constexpr hopper_gemm_tile tile = Block::tile;
  using pipeline_type = typename Block::roles::pipeline;
  using work_type = typename Block::work_type;
  using accumulators = typename Block::accumulators;

  const typename Block::device_args& args;
  pipeline_type pipeline;
  index_t consumer, row, release_rank;  // row: of the consumer in its tile, in 64 rows of C
  consumer_order<Block> order{consumer};
  typename pipeline_type::state at = {};
  index_t unreleased = -1;  // the stage before; -1: none

  TILEWRIGHT_HD wgmma_mainloop(const typename Block::device_args& a, const pipeline_type& p, exec::lds_pointer,
                               index_t c)
      : args(a),
        pipeline(p),
        consumer(c),
        row(tile.ping_pong ? 0 : c),
        release_rank(p.release_rank(modulo(exec::thread_id(), 128))) {}

  /// Whether the consumer computes this work tile; else its stages are skipped.
  TILEWRIGHT_HD bool owns(const work_type& work) {
    if (work.is_empty()) return false;
    if (order.begin(work, args.ordered_k_tiles)) return true;
    at.skip(work.k_end - work.k_begin);
    return false;
  }

  /// c (m, n) = A (m, k) B (n, k)^T over the k of a work tile.
  template <class Epilogue>
  TILEWRIGHT_HD void operator()(accumulators& c, const work_type& work, Epilogue&) {
    multiply(c, work, work.k_begin, work.k_end);
    order.arrive();
    wait(c);
  }
  TILEWRIGHT_HD void drain() const { order.drain(); }

  /// c += A B^T over k tiles [first, end); c = A B^T where they are the first of the work tile.
  TILEWRIGHT_HD void multiply(accumulators& c, const work_type& work, index_t first, index_t end) {
    TILEWRIGHT_UNROLL(1)
    for (index_t k = first; k < end; ++k, at.advance()) {
      if (order.is_due(k)) wait_in_order();
      pipeline.consumer_wait(at);        // A (m, k) and B (n, k) of this k tile are in LDS
      issue(c, work, k > work.k_begin);  // c (m, n) += A B^T
      exec::wgmma_wait<1>();             // the k tile before has been multiplied
      release_previous();
      unreleased = at.stage;
    }
  }
  /// Waits for all MMAs; then c may be read.
  TILEWRIGHT_HD void wait(accumulators& c) {
    exec::wgmma_wait<0>();
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < tile.accumulators(); ++i) exec::fence_operand(c.thread_buffer[i]);
    release_previous();
  }

 protected:
  TILEWRIGHT_HD void issue(accumulators& c, const work_type& work, bool accumulate) const {
    if (work.has_rows(work.m0 + row * 64))
      pipeline.multiply(at, row, c, accumulate);
    else  // keep the four warps in step, as wgmma would: else the first could release a stage that others still wait
          // for
      exec::named_sync<128>(warps_of_consumer + consumer);
  }
  TILEWRIGHT_HD void wait_in_order() {
    exec::wgmma_wait<0>();
    release_previous();
    order.wait();
  }
  TILEWRIGHT_HD void release_previous() {
    if (unreleased >= 0) pipeline.consumer_release(unreleased, release_rank);
    unreleased = -1;
  }
};

}  // namespace tilewright::detail
#endif
