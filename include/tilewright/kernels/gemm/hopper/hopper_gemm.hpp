// SPDX-License-Identifier: MIT
// The Hopper GEMM: what the warps of a persistent block do.
#pragma once

#include <tilewright/kernels/gemm/hopper/detail/block_scaled_mainloop.hpp>
#include <tilewright/kernels/gemm/hopper/detail/stream_k_fixup.hpp>
#include <tilewright/kernels/gemm/hopper/detail/unaligned_epilogue.hpp>
#include <tilewright/kernels/gemm/hopper/detail/unaligned_producer.hpp>
#include <tilewright/kernels/gemm/hopper/slot_epilogue.hpp>
#include <tilewright/kernels/gemm/hopper/stream_k_scheduler.hpp>
#include <tilewright/kernels/gemm/hopper/tma_producer.hpp>
#include <tilewright/kernels/gemm/hopper/wgmma_mainloop.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// The fourth warp that moves data, where it has nothing to do.
template <class Block>
struct no_assistant {
  static constexpr bool is_present = false;
  TILEWRIGHT_HD no_assistant(const typename Block::device_args&, const typename Block::roles::pipeline&,
                             exec::lds_pointer) {}
  TILEWRIGHT_HD void operator()(typename Block::roles::scheduler) const {}
};

/// What warps do. Those of the consumers multiply; the others, in this order, are one of each role: role load may have
/// several.
enum class role : signed char {
  load,       // producer: fills stages of A and B
  store_c,    // slots: stores C
  acquire_c,  // slots: gives empty slots to consumers, with C's old elements where beta is not 0
  assist,     // assistant: loads scales of blocks, or sends to other GPUs
  mma         // mainloop, stream-K fix-up, epilogue
};

/// What a block offers: a hopper_gemm_block, or one for groups or several GPUs. Each type of `roles` is made from
/// device_args and what else it needs, and is called with a scheduler of its own.
template <class Block>
concept HopperGemmBlock =
    requires(typename Block::accumulators& c, typename Block::work_type& work, typename Block::roles::scheduler& tiles,
             typename Block::roles::pipeline& pipeline, typename Block::roles::producer& producer,
             typename Block::roles::assistant& assistant, typename Block::roles::mainloop& mainloop,
             typename Block::roles::slots& slots, typename Block::roles::epilogue& epilogue,
             const typename Block::device_args& args) {
      requires __is_same(decltype(tiles.next(work)), bool);  // sets `work`; false: there is none
      tiles.init(exec::lds_pointer{});                       // one thread
      pipeline.init(args);
      slots.init();
      producer.prefetch(args);
      producer(tiles);  // role load: one thread, or `warps` warps
      slots.store(args, tiles);
      slots.acquire(args, tiles);
      assistant(tiles);                                         // a warp
      requires __is_same(decltype(mainloop.owns(work)), bool);  // whether it is this consumer's
      mainloop(c, work, epilogue);                              // c (m, n) = A (m, k) B (n, k)^T
      mainloop.drain();
      epilogue(c, work);  // C (m, n) = what the policy's epilogue makes of c
    };

template <HopperGemmBlock Block>
struct hopper_gemm {
  static constexpr hopper_gemm_tile tile = Block::tile;
  using roles = typename Block::roles;

  const typename Block::device_args& args;
  exec::lds_pointer lds;
  index_t rank = tile.cluster() > 1 ? exec::block_of_cluster() : 0;
  typename roles::pipeline pipeline{exec::lds_address(lds), rank};
  typename roles::slots slots{exec::lds_address(lds)};

  TILEWRIGHT_HD void operator()() const {
    run_roles<tile.consumers, Block::registers, tile.cluster()>(
        [&]() TILEWRIGHT_INLINE_LAMBDA {
          scheduler::init(lds);
          pipeline.init(args);
          slots.init();
          roles::producer::prefetch(args);
        },
        [&](index_t warp) TILEWRIGHT_INLINE_LAMBDA { move_data(warp); },
        [&](index_t consumer) TILEWRIGHT_INLINE_LAMBDA { multiply(consumer); });
  }

 private:
  using scheduler = typename roles::scheduler;

  TILEWRIGHT_HD static role role_of(index_t warp) {
    constexpr index_t loading = roles::producer::warps;
    return warp < loading ? role::load : role(warp - loading + 1);
  }
  TILEWRIGHT_HD void move_data(index_t warp) const {
    constexpr bool has_leader = scheduler::is_collective;  // whose registers the other warps do without
    if (has_leader && warp == 0) {
      typename roles::producer{args, pipeline, lds, warp}(scheduler{args, {lds, rank, true}});
      return;
    }
    const scheduler tiles{args, {lds, rank, false}};
    const bool is_elected = exec::lane_id() == 0 || has_leader;
    switch (role_of(warp)) {
      case role::load:
        if (is_elected || roles::producer::warps > 1) typename roles::producer{args, pipeline, lds, warp}(tiles);
        break;
      case role::store_c:
        if (is_elected) slots.store(args, tiles);
        break;
      case role::acquire_c:
        if (is_elected) slots.acquire(args, tiles);
        break;
      default: typename roles::assistant{args, pipeline, lds}(tiles);
    }
  }

  /// A consumer.
  TILEWRIGHT_HD void multiply(index_t consumer) const {
    exec::grid_dependency_wait();
    scheduler tiles{args, {lds, rank, false}};
    typename roles::mainloop mainloop{args, pipeline, lds, consumer};
    typename roles::epilogue epilogue{args, slots, lds, consumer};
    const stream_k_fixup<Block> fixup{args, rank, tile.ping_pong ? 0 : consumer};
    typename Block::accumulators c;
    for (typename Block::work_type work; tiles.next(work);) {
      if (!mainloop.owns(work)) continue;     // in ping-pong, it is the other consumer's
      mainloop(c, work, epilogue);            // c (m, n) = A (m, k) B (n, k)^T over the work tile's k
      if (fixup(c, work)) epilogue(c, work);  // C (m, n); the last peer of a split tile has all of c
    }
    mainloop.drain();
  }
};

}  // namespace tilewright::detail
#endif
