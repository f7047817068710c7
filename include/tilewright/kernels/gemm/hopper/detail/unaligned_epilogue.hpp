// SPDX-License-Identifier: MIT
// What a consumer does with C whose rows start at any element: it writes from registers, without slots in LDS.
#pragma once

#include <tilewright/kernels/gemm/hopper/accumulator_boxes.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// No role stores C for the consumers.
template <class Block>
struct no_c_slots {
  unsigned block_lds;
  TILEWRIGHT_HD void init() const {}
  template <class Scheduler>
  TILEWRIGHT_HD void acquire(const typename Block::device_args&, Scheduler) const {}
  template <class Scheduler>
  TILEWRIGHT_HD void store(const typename Block::device_args&, Scheduler) const {}
};

template <class Block>
struct unaligned_epilogue {
  using boxes = accumulator_boxes<Block>;

  const typename Block::device_args& args;
  index_t first_row;  // of the warp in the tile

  TILEWRIGHT_HD unaligned_epilogue(const typename Block::device_args& a, const no_c_slots<Block>&, exec::lds_pointer,
                                   index_t consumer)
      : args(a), first_row(consumer * 64 + divide(modulo(exec::thread_id(), 128), 32) * 16) {}

  TILEWRIGHT_HD void operator()(typename Block::accumulators& c, const typename Block::work_type& work) const {
    boxes::for_each_box(c, args.args, work.m0 + first_row, work.n0, work.tile.batch,
                        [&](index_t, const gemm_args& bounds, const multi_index<2>& origin, index_t batch,
                            const auto& finish, const auto& box) TILEWRIGHT_INLINE_LAMBDA {
                          const output_tile<typename boxes::distribution, typename Block::result_type, 1> at{
                              {bounds, origin, batch, {exec::lane_id()}}};
                          finish(at);
                          store_tile(at.c_window, boxes::round(box));
                        });
  }
};

}  // namespace tilewright::detail
#endif
