// SPDX-License-Identifier: MIT
// The boxes in LDS by which C comes and goes: consumers fill them, one thread starts their bulk stores,
// another one brings the old C.
#pragma once

#include <tilewright/gemm/hopper/hopper_pipeline.hpp>

#if TILEWRIGHT_NVPTX_PASS
namespace tilewright {

/// Boxes are taken in turn and numbered from the kernel's begin: box i lies at place i % num_boxes.
template <class Policy>
struct hopper_boxes {
  static constexpr hopper_tile tile = Policy::tile;
  static constexpr hopper_lds lds = Policy::lds;
  static constexpr unsigned num_boxes = lds.num_boxes();
  /// Stores that may still read their boxes while the next one is started.
  static constexpr unsigned in_flight = num_boxes / 2;

  unsigned base;  // of the block's LDS

  TILEWRIGHT_HD unsigned address(unsigned i) const {
    return base + lds.boxes_offset() + i % num_boxes * lds.box_bytes();
  }
  TILEWRIGHT_HD exec::mbarrier barrier(unsigned number) const {
    return {base + lds.barriers_offset() + (2 * lds.num_stages() + number) * exec::mbarrier::bytes};
  }
  /// The four waves of a consumer have filled box i.
  TILEWRIGHT_HD exec::mbarrier full(unsigned i) const { return barrier(i % num_boxes); }
  /// A box of the old C has come.
  TILEWRIGHT_HD exec::mbarrier old() const { return barrier(num_boxes); }
  /// Boxes whose places are free for others, and boxes to whose places the old C has come.
  TILEWRIGHT_HD exec::lds_counter stored() const { return {barrier(num_boxes + 1).address}; }
  TILEWRIGHT_HD exec::lds_counter brought() const { return {barrier(num_boxes + 2).address}; }

  TILEWRIGHT_HD void init() const {
    for (unsigned i = 0; i < num_boxes; ++i) full(i).init(4);
    old().init(1);
    stored().set(0);
    brought().set(0);
  }

  TILEWRIGHT_HD void wait_until_free(unsigned i) const { stored().wait_for_more_than(i - num_boxes); }
  TILEWRIGHT_HD void wait_for_old(unsigned i) const {
    brought().wait_for_more_than(i);
    exec::fence_block();
  }

  /// work(m, n, batch) for each box that this block writes to C.
  template <class ForEachUnit, class Work>
  TILEWRIGHT_HD static void for_each_box(ForEachUnit for_each_unit, Work work) {
    for_each_unit([&](const work_unit& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      if (!unit.is_last_part()) return;
      constexpr hopper_tile t = tile;
      TILEWRIGHT_UNROLL(1)
      for (index_t i = 0; i < t.num_boxes(); ++i) {
        const hopper_tile::position box = t.box_position(i);
        work(m0 + box.m, n0 + box.n, unit.tile.batch);
      }
    });
  }

  /// One thread: starts the store of each box once it is full.
  template <class ForEachUnit>
  TILEWRIGHT_HD void store(const hopper_args& args, ForEachUnit for_each_unit) const {
    unsigned i = 0;
    for_each_box(for_each_unit, [&](index_t m, index_t n, index_t batch) TILEWRIGHT_INLINE_LAMBDA {
      full(i).wait(i / num_boxes & 1);
      exec::fence_async_proxy();  // here, where no matrix instruction waits for it
      exec::bulk_store(args.c, address(i), n, m, batch);
      exec::commit_bulk_stores();
      exec::wait_for_bulk_stores_to_read<in_flight>();
      ++i;
      if (i > in_flight) stored().set(i - in_flight);
    });
    exec::wait_for_bulk_stores_to_read<0>();
  }

  /// One thread, if beta is not 0: brings C's old elements to each box's place once it is free.
  template <class ForEachUnit>
  TILEWRIGHT_HD void bring_old(const hopper_args& args, ForEachUnit for_each_unit) const {
    unsigned i = 0;
    for_each_box(for_each_unit, [&](index_t m, index_t n, index_t batch) TILEWRIGHT_INLINE_LAMBDA {
      wait_until_free(i);
      old().arrive_and_expect(lds.box_bytes());
      exec::bulk_load(address(i), args.c, old(), n, m, batch);
      old().wait(i & 1);
      brought().set(++i);
    });
  }
};

}  // namespace tilewright
#endif
