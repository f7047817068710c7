// SPDX-License-Identifier: MIT
// A persistent block of attention on Hopper: its share of the work, warpgroups that consume, and one that produces.
#pragma once

#include <tilewright/arch/sm90.hpp>
#include <tilewright/attention/attention_order.hpp>
#include <tilewright/attention/attention_policy.hpp>
#include <tilewright/exec/hopper.hpp>

namespace tilewright::detail {

/// What policies of attention on Hopper have in common.
template <class T, index_t HeadDim, index_t ValueDim, class Args>
struct hopper_attention_policy : attention_choices<arch::sm90, T, HeadDim, ValueDim, Args> {
  static constexpr tilewright::arch::matrix_op op =
      sizeof(T) == 1 ? tilewright::arch::matrix_op::wgmma_k32_b8 : tilewright::arch::matrix_op::wgmma_k16;
};

/// Registers of a thread; 0: as many as it starts with.
struct role_registers {
  index_t producer, consumer;
};

#if TILEWRIGHT_HOPPER_PASS
/// The first `Consumers` warpgroups: consume(number of the warpgroup); the next one: produce(number of the wave).
template <index_t Consumers, role_registers Registers, class Stages, index_t NumMaps, class Produce, class Consume>
TILEWRIGHT_HD void run_roles(const Stages& stages, const exec::tensor_map* const (&maps)[NumMaps], Produce produce,
                             Consume consume) {
  const index_t warpgroup = exec::shuffle(divide(exec::thread_id(), 128), 0);
  if (exec::thread_id() == 0) {
    stages.init_barriers();
    exec::fence_barrier_init();
    for (const exec::tensor_map* map : maps) exec::prefetch(*map);
  }
  exec::block_sync();
  exec::let_next_kernel_start();
  exec::wait_for_previous_kernel();
  if (warpgroup == Consumers) {
    if constexpr (Registers.producer > 0) exec::give_registers_back<Registers.producer>();
    produce(modulo(exec::wave_id(), 4));
    exec::wave_sync();
  } else {
    if constexpr (Registers.consumer > 0) exec::take_registers<Registers.consumer>();
    consume(warpgroup);
  }
}

/// work(unit) for each unit of this block.
template <class Work>
TILEWRIGHT_HD void for_each_unit_of(const attention_order& order, Work work) {
  const index_t blocks = exec::num_blocks(), block = exec::block_id().x;
  TILEWRIGHT_UNROLL(1)
  for (index_t round = 0; round < order.num_rounds(blocks); ++round) {
    const attention_unit unit = order(block, blocks, round);
    if (unit.row >= 0) work(unit);
  }
}
#endif

}  // namespace tilewright::detail
