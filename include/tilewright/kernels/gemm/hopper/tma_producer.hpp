// SPDX-License-Identifier: MIT
// Role load: one thread that fills the stages of A and B by TMA.
#pragma once

#include <tilewright/kernels/gemm/hopper/operand_pipeline.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// Walks through the k tiles of a work tile, of every other one backwards: it begins with k tiles of its neighbour that
/// L2 still has.
struct alternating_k {
  bool backwards = false;

  template <class Work>
  TILEWRIGHT_HD index_t operator()(const Work& work, index_t i) const {
    return backwards ? work.k_begin + work.k_end - 1 - i : i;
  }
  TILEWRIGHT_HD void turn_around() { backwards = !backwards; }
};

template <class Block>
struct tma_producer {
  static constexpr index_t warps = 1;
  using pipeline_type = typename Block::roles::pipeline;

  const typename Block::device_args& args;
  pipeline_type pipeline;

  TILEWRIGHT_HD tma_producer(const typename Block::device_args& a, const pipeline_type& p, exec::lds_pointer, index_t)
      : args(a), pipeline(p) {}

  TILEWRIGHT_HD static void prefetch(const typename Block::device_args& args) {
    exec::prefetch(args.a);
    exec::prefetch(args.b[0]);
    exec::prefetch(args.c);
  }

  TILEWRIGHT_HD void operator()(typename Block::roles::scheduler tiles) const {
    typename pipeline_type::state at;
    alternating_k order;
    bool has_waited = false;
    for (typename Block::work_type work; tiles.next(work);) {
      if (work.is_empty() || (tiles.is_collective && exec::lane_id() != 0)) continue;
      if (!has_waited) exec::grid_dependency_wait();
      has_waited = true;
      const auto a = Block::source_of_a(args, work);
      TILEWRIGHT_UNROLL(1)
      for (index_t k = work.k_begin; k < work.k_end; ++k, at.advance())
        pipeline.load(at, a, args.b, work, work.first_k + order(work, k) * Block::tile_k);
      order.turn_around();
    }
  }
};

}  // namespace tilewright::detail
#endif
