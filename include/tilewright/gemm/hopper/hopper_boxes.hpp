// SPDX-License-Identifier: MIT
// The boxes in LDS by which C comes and goes: consumers fill them, one thread starts their bulk stores, another one brings the old C.
#pragma once

#include <tilewright/gemm/hopper/hopper_pipeline.hpp>

#if TILEWRIGHT_NVPTX_PASS
namespace tilewright {

template <class Policy>
struct hopper_boxes {
  static constexpr hopper_tile tile = Policy::tile;
  static constexpr hopper_lds lds = Policy::lds;
  static constexpr index_t num_boxes = lds.num_boxes();
  /// Stores that may still read their boxes while the next one is started.
  static constexpr index_t in_flight = num_boxes / 2;
  using cursor = stage_cursor<num_boxes>;

  unsigned base;  // of the block's LDS

  TILEWRIGHT_HD unsigned address(index_t box) const { return base + lds.boxes_offset() + box * lds.box_bytes(); }
  /// The four waves of a consumer have filled a box.
  TILEWRIGHT_HD exec::mbarrier full(index_t box) const {
    return {base + lds.barriers_offset() + (2 * lds.num_stages() + box) * exec::mbarrier::bytes};
  }
  /// A box has been stored.
  TILEWRIGHT_HD exec::mbarrier empty(index_t box) const { return full(num_boxes + box); }
  /// The old C has come to a box.
  TILEWRIGHT_HD exec::mbarrier old(index_t box) const { return full(2 * num_boxes + box); }

  TILEWRIGHT_HD void init_barriers() const {
    for (index_t box = 0; box < num_boxes; ++box) {
      full(box).init(4);
      empty(box).init(1);
      old(box).init(1);
    }
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
    cursor at;
    index_t stored = 0;
    for_each_box(for_each_unit, [&](index_t m, index_t n, index_t batch) TILEWRIGHT_INLINE_LAMBDA {
      full(at.stage).wait(at.parity);
      exec::fence_async_proxy();  // here, where no matrix instruction waits for it
      exec::bulk_store(args.c, address(at.stage), n, m, batch);
      exec::commit_bulk_stores();
      exec::wait_for_bulk_stores_to_read<in_flight>();
      if (stored++ >= in_flight) empty(at.after(num_boxes - in_flight).stage).arrive();
      at.advance();
    });
    exec::wait_for_bulk_stores_to_read<0>();
  }

  /// One thread, if beta is not 0: brings C's old elements to each box once it is empty.
  template <class ForEachUnit>
  TILEWRIGHT_HD void load_old(const hopper_args& args, ForEachUnit for_each_unit) const {
    cursor at;
    for_each_box(for_each_unit, [&](index_t m, index_t n, index_t batch) TILEWRIGHT_INLINE_LAMBDA {
      empty(at.stage).wait(at.parity ^ 1);
      old(at.stage).arrive_and_expect(lds.box_bytes());
      exec::bulk_load(address(at.stage), args.c, old(at.stage), n, m, batch);
      at.advance();
    });
  }
};

}  // namespace tilewright
#endif
