// SPDX-License-Identifier: MIT
// Starts the roles of a warp-specialised block: warpgroups that consume, and others that produce.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/machine/exec/hopper.hpp>

namespace tilewright::detail {

/// Registers of a thread of each role, multiples of 8 from 24 to 240 (setmaxnreg); 0: as many as it starts with.
struct role_registers {
  index_t producer, consumer;

  /// Whether a block with `producers` and `consumers` warpgroups, of which `blocks` are resident on an SM, starts with
  /// as many registers as its roles will have: each thread with a multiple of 8, all warpgroups of an SM with at most
  /// 512. If not, consumers wait for registers for ever.
  TILEWRIGHT_HD constexpr bool fit(index_t producers, index_t consumers, index_t blocks = 1) const {
    const index_t warpgroups = producers + consumers, at_start = 512 / (blocks * warpgroups) / 8 * 8;
    return producer == 0 || producers * producer + consumers * consumer <= warpgroups * at_start;
  }
};

#if TILEWRIGHT_HOPPER_PASS
/// Waits until all threads of the block, or of a cluster of `Cluster` blocks, are here.
template <index_t Cluster>
TILEWRIGHT_HD void sync_cluster() {
  if constexpr (Cluster > 1)
    exec::cluster_sync();
  else
    exec::block_sync();
}

/// init() in thread 0: initialises barriers, prefetches tensor maps. Then the first `Consumers` warpgroups call
/// consume(warpgroup), the others produce(wave), counted from their first wave. Nothing here waits for the previous
/// kernel: each role calls exec::grid_dependency_wait() before it reads global memory.
template <index_t Consumers, role_registers Registers, index_t Cluster = 1, class Init, class Produce, class Consume>
TILEWRIGHT_HD void run_roles(Init init, Produce produce, Consume consume) {
  const index_t warpgroup = exec::shuffle(divide(exec::thread_id(), 128), 0);
  if (exec::thread_id() == 0) {
    init();
    exec::fence_barrier_init();
  }
  exec::wave_sync();
  sync_cluster<Cluster>();
  exec::grid_dependency_launch();
  if (warpgroup >= Consumers) {
    if constexpr (Registers.producer > 0) exec::warpgroup_reg_dealloc<Registers.producer>();
    produce(exec::shuffle(exec::wave_id() - 4 * Consumers, 0));
    exec::wave_sync();
  } else {
    if constexpr (Registers.consumer > 0) exec::warpgroup_reg_alloc<Registers.consumer>();
    consume(warpgroup);
  }
  // No block leaves while others of its cluster still copy to its LDS or arrive at its barriers.
  if constexpr (Cluster > 1) exec::cluster_sync();
}
#endif

}  // namespace tilewright::detail
