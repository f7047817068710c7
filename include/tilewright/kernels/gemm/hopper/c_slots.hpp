// SPDX-License-Identifier: MIT
// The slots in LDS through which C goes to memory by TMA, and through which its old elements come.
#pragma once

#include <tilewright/block/pipeline/mbarrier_pipeline.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// A box of C that goes through a slot: its first element in C as stored, and the consumer that fills it.
struct c_box {
  index_t m, n, z, consumer;
  index_t number;  // in the tile
};

/// Boxes go through the slots in a ring, in the same order in all roles. A slot s has three kinds of barriers, which it
/// passes in a circle:
///
///   acquire_c | wait empty(s) | ready(s): arrive, or TMA load of old C -> s |
///   mma       |                          wait ready(s) | epilogue, stmatrix -> s | commit: 4 warps arrive at full(s)
///   store_c   |                                                                  wait full(s) | TMA store s -> C | ...
///   store_c                ... | wait until TMA has read slot s | arrive at empty(s) | ...
///
/// TMA may still read the last in_flight slots while store_c starts the next store. There is a `ready` for each
/// consumer, which waits for every phase of its own: else it would mistake phases.
template <class Block>
struct c_slots {
  static constexpr hopper_gemm_tile tile = Block::tile;
  static constexpr hopper_gemm_lds lds = Block::lds;
  static constexpr index_t num_slots = lds.num_slots(), in_flight = num_slots / 2;
  using state = pipeline_state<num_slots>;
  using device_args = typename Block::device_args;
  using work_type = typename Block::work_type;

  unsigned block_lds;

  TILEWRIGHT_HD unsigned address(index_t slot) const {
    return block_lds + Block::regions.slots + slot * lds.slot_bytes();
  }
  TILEWRIGHT_HD exec::mbarrier full(index_t slot) const { return barrier(slot); }
  TILEWRIGHT_HD exec::mbarrier empty(index_t slot) const { return barrier(num_slots + slot); }
  TILEWRIGHT_HD exec::mbarrier ready(index_t slot, index_t consumer) const {
    return barrier((2 + consumer) * num_slots + slot);
  }
  TILEWRIGHT_HD void init() const {
    for (index_t s = 0; s < num_slots; ++s) {
      full(s).init(4);
      empty(s).init(1);
      for (index_t consumer = 0; consumer < tile.consumers; ++consumer) ready(s, consumer).init(1);
    }
  }

  /// One thread: acquires a slot for each box of C and gives it to the box's consumer; with the old elements of C there
  /// if beta is not 0.
  template <class Scheduler>
  TILEWRIGHT_HD void acquire(const device_args& args, Scheduler tiles) const {
    exec::grid_dependency_wait();
    state at;
    for_each_box(tiles, [&](const c_box& box) TILEWRIGHT_INLINE_LAMBDA {
      empty(at.stage).wait(at.phase ^ 1);
      const exec::mbarrier slot_is_ready = ready(at.stage, box.consumer);
      if (args.args.beta != 0)
        load(at.stage, map_of(args, box), box, box.z, slot_is_ready);
      else
        slot_is_ready.arrive();
      at.advance();
    });
  }

  /// One thread: stores each box once its slot is full.
  template <class Scheduler>
  TILEWRIGHT_HD void store(const device_args& args, Scheduler tiles) const {
    state at, read;  // read: the slot that TMA reads no more
    index_t stored = 0;
    for_each_box(tiles, [&](const c_box& box) TILEWRIGHT_INLINE_LAMBDA {
      full(at.stage).wait(at.phase);
      exec::fence_async_proxy();  // here, where no matrix instruction waits for it
      exec::tma_store(map_of(args, box), address(at.stage), box.n, box.m, box.z);
      exec::tma_store_commit();
      exec::tma_store_wait_read<in_flight>();
      at.advance();
      if (++stored <= in_flight) return;
      empty(read.stage).arrive();
      read.advance();
    });
    exec::tma_store_wait_read<0>();
  }

  /// A warp of a consumer has written its rows of the slot.
  TILEWRIGHT_HD void commit(index_t slot) const {
    exec::wave_sync();
    if (exec::lane_id() == 0) full(slot).arrive();
  }

 protected:
  /// work(box) for each box that this block stores.
  template <class Scheduler, class Work>
  TILEWRIGHT_HD static void for_each_box(Scheduler& tiles, Work work_on) {
    [[maybe_unused]] index_t count = 0;
    for (work_type work; tiles.next(work);) {
      if (work.is_empty()) continue;
      const index_t first_consumer = tile.ping_pong ? modulo(count++, 2) : 0;
      if ((tiles.is_collective && exec::lane_id() != 0) || !work.is_last_split()) continue;
      TILEWRIGHT_UNROLL(1)
      for (index_t i = 0; i < tile.num_boxes(); ++i) work_on(box_of(work, i, first_consumer));
    }
  }
  TILEWRIGHT_HD static c_box box_of(const work_type& work, index_t number, index_t first_consumer) {
    constexpr hopper_gemm_tile t = tile;
    const hopper_gemm_tile::box_origin origin = t.origin_of_box(number);
    return {.m = t.swap_ab ? work.n0 + origin.n : work.m0 + origin.m,
            .n = t.swap_ab ? work.m0 + origin.m : work.n0 + origin.n,
            .z = work.c_z,
            .consumer = origin.consumer + first_consumer,
            .number = number};
  }
  /// Starts the load of a box to a slot.
  template <class Map>
  TILEWRIGHT_HD void load(index_t slot, const Map& from, const c_box& box, index_t z, exec::mbarrier loaded) const {
    constexpr hopper_gemm_lds l = lds;
    loaded.arrive_and_expect(l.bytes_of_box(box.number));
    exec::tma_load(address(slot), from, loaded, box.n, box.m, z);
  }
  /// The map of C for a box.
  TILEWRIGHT_HD static const auto& map_of(const device_args& args, const c_box& box) {
    constexpr hopper_gemm_tile t = tile;
    if constexpr (t.has_narrow_box()) {
      return t.is_narrow_box(box.number) ? args.narrow_c : args.c;
    } else {
      return args.c;
    }
  }

 private:
  TILEWRIGHT_HD exec::mbarrier barrier(index_t number) const {
    return {block_lds + Block::regions.barriers + unsigned(2 * Block::num_stages + number) * exec::mbarrier::bytes};
  }
};

}  // namespace tilewright::detail
#endif
