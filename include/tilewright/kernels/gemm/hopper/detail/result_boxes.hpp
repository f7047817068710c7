// SPDX-License-Identifier: MIT
// The boxes in LDS by which C comes and goes: consumers fill them, one thread starts their bulk stores,
// another one brings the old C.
#pragma once

#include <tilewright/kernels/gemm/hopper/stage_ring.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// One use of a box of C: where it is in C, as stored, and which consumer fills it.
struct box_use {
  index_t m, n, z, consumer;
  index_t number;       // in the tile
  index_t source = -1;  // the GPU whose sums come there to be added; -1: the box is stored
};

/// Boxes are used in turn and numbered from the kernel's start: box i lies at place i % num_boxes.
template <class Block>
struct result_boxes {
  static constexpr hopper_gemm_tile tile = Block::tile;
  static constexpr hopper_gemm_lds lds = Block::lds;
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
  /// The store of box i has read it.
  TILEWRIGHT_HD exec::mbarrier free(unsigned i) const { return barrier(num_boxes + i % num_boxes); }
  /// The consumer may fill box i. A consumer waits for each phase of its own barriers: else it would mistake phases.
  TILEWRIGHT_HD exec::mbarrier ready(unsigned i, index_t consumer) const {
    return barrier((2 + consumer) * num_boxes + i % num_boxes);
  }

  /// The map of C for a box.
  TILEWRIGHT_HD static const auto& map_of(const typename Block::device_args& args, const box_use& use) {
    constexpr hopper_gemm_tile t = tile;
    if constexpr (t.has_narrow_box()) {
      return t.is_narrow_box(use.number) ? args.narrow_c : args.c;
    } else {
      return args.c;
    }
  }

  TILEWRIGHT_HD void init() const {
    for (unsigned i = 0; i < num_boxes; ++i) {
      full(i).init(4);
      free(i).init(1);
      for (index_t consumer = 0; consumer < tile.consumers; ++consumer) ready(i, consumer).init(1);
    }
  }

  /// work(box_use) for each box that this block writes to C, or that others' sums come to.
  template <class ForEachUnit, class Work>
  TILEWRIGHT_HD static void for_each_box([[maybe_unused]] const typename Block::device_args& args,
                                         ForEachUnit for_each_unit, Work work) {
    [[maybe_unused]] index_t units = 0;
    for_each_unit([&](const typename Block::unit_type& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      const index_t turn = tile.ping_pong ? modulo(units++, 2) : 0;
      if (!unit.is_last_split()) return;
      const auto for_each = [&](index_t source) TILEWRIGHT_INLINE_LAMBDA {
        constexpr hopper_gemm_tile t = tile;
        TILEWRIGHT_UNROLL(1)
        for (index_t i = 0; i < t.num_boxes(); ++i) {
          const hopper_gemm_tile::position box = t.box_coord(i);
          const index_t m = t.swap_ab ? n0 + box.n : m0 + box.m, n = t.swap_ab ? m0 + box.m : n0 + box.n;
          work(box_use{m, n, unit.c_z(), box.consumer + turn, i, source});
        }
      };
      if constexpr (Block::sends_tiles) {
        TILEWRIGHT_UNROLL(1)
        for (index_t i = Block::sources(args.args, unit); i >= 0; --i) for_each(Block::source(args.args, i));
      } else {
        for_each(-1);
      }
    });
  }

  /// One thread: starts the store of each box once it is full.
  template <class ForEachUnit>
  TILEWRIGHT_HD void store(const typename Block::device_args& args, ForEachUnit for_each_unit) const {
    unsigned i = 0;
    [[maybe_unused]] unsigned freed = 0;
    for_each_box(args, for_each_unit, [&](const box_use& use) TILEWRIGHT_INLINE_LAMBDA {
      full(i).wait(i / num_boxes & 1);
      if constexpr (Block::sends_tiles) {
        ++i;
        if (use.source >= 0) {  // its consumer has read it
          free(freed++).arrive();
          return;
        }
        exec::fence_async_proxy();
        const auto to = Block::target(args, use);
        exec::tma_store(to.map, address(i - 1), use.n, use.m, to.z);
        exec::tma_store_commit();
        constexpr hopper_gemm_tile t = tile;
        const bool is_last = use.number + 1 == t.num_boxes();
        if (is_last) {
          exec::tma_store_wait<0>();
          Block::report_tile(args, use);
        } else {
          exec::tma_store_wait_read<in_flight>();
        }
        for (; freed + (is_last ? 0 : in_flight) < i; ++freed) free(freed).arrive();
        return;
      }
      exec::fence_async_proxy();  // here, where no matrix instruction waits for it
      exec::tma_store(map_of(args, use), address(i), use.n, use.m, use.z);
      exec::tma_store_commit();
      exec::tma_store_wait_read<in_flight>();
      if (++i > in_flight) free(i - 1 - in_flight).arrive();
    });
    exec::tma_store_wait_read<0>();
  }

  /// One thread: hands each box to its consumer once its place is free and, if beta is not 0, C's old elements have
  /// come there.
  template <class ForEachUnit>
  TILEWRIGHT_HD void hand_out(const typename Block::device_args& args, ForEachUnit for_each_unit) const {
    unsigned i = 0;
    for_each_box(args, for_each_unit, [&](const box_use& use) TILEWRIGHT_INLINE_LAMBDA {
      const exec::mbarrier done = ready(i, use.consumer);
      free(i).wait(~(i / num_boxes) & 1);
      bool has_old_c = args.args.beta != 0;
      if constexpr (Block::sends_tiles) {
        has_old_c = has_old_c && Block::is_own(args.args, use.z);
        if (use.source >= 0) {
          if (use.number == 0) Block::wait_for_sums(args, use);
          done.arrive_and_expect(lds.box_bytes());
          exec::tma_load(address(i++), args.received, done, use.n, use.m, use.source);
          return;
        }
      }
      if (has_old_c) {
        constexpr hopper_gemm_lds l = lds;
        done.arrive_and_expect(l.tile.is_narrow_box(use.number) ? l.narrow_box_bytes() : l.box_bytes());
        exec::tma_load(address(i), map_of(args, use), done, use.n, use.m, Block::sends_tiles ? 0 : use.z);
      } else {
        done.arrive();
      }
      ++i;
    });
  }
};

}  // namespace tilewright::detail
#endif
