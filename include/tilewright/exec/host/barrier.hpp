// SPDX-License-Identifier: MIT
// Hopper's barriers for kernels that run on the CPU: in LDS (mbarrier), among some waves, among the blocks of a
// cluster.
#pragma once

#include <tilewright/emulator/hopper/hopper_services.hpp>
#include <tilewright/exec/host/machine.hpp>

namespace tilewright::exec {
inline namespace host {

/// The address by which instructions name a place in LDS.
inline unsigned lds_address(lds_pointer p) { return unsigned(p.byte); }

namespace detail {
inline emulator::hopper_services& hopper() {
  return emulator::current_thread->services->hopper(*emulator::current_thread);
}
}  // namespace detail

/// A barrier in LDS, 8 bytes. A phase ends when all expected arrivals have been made and all expected bytes have come.
struct mbarrier {
  static constexpr index_t bytes = 8;
  unsigned address;

  void init(index_t arrivals, call_site where = {}) const {
    detail::hopper().init_barrier(*emulator::current_thread, index_t(address), arrivals, where);
  }

  /// Waits for the end of the phase of this parity; of a fresh barrier, phase 1 counts as over.
  void wait(unsigned parity, call_site where = {}) const {
    detail::hopper().wait(*emulator::current_thread, index_t(address), parity, where);
  }

  void arrive_and_expect(index_t bytes_to_come, call_site where = {}) const {
    detail::hopper().arrive(*emulator::current_thread, emulator::current_thread->rank, index_t(address), bytes_to_come,
                            where);
  }

  void arrive(call_site where = {}) const { arrive_at(emulator::current_thread->rank, where); }

  /// Arrives at this barrier's sibling in another block of the cluster.
  void arrive_at(index_t block_of_cluster, call_site where = {}) const {
    detail::hopper().arrive(*emulator::current_thread, block_of_cluster, index_t(address), 0, where);
  }
};

/// Makes initialised barriers known to the other blocks of the cluster and to copies.
inline void fence_barrier_init() { detail::hopper().fence_barrier_init(*emulator::current_thread); }

/// What this thread wrote to LDS, or knows that others wrote, is seen by copies and matrix instructions that start
/// after the next barrier.
inline void fence_async_proxy() { detail::hopper().fence_async_proxy(*emulator::current_thread); }

/// Blocks of the grid along x.
inline index_t num_blocks() { return emulator::current_thread->num_blocks; }

/// The block's number in its cluster.
inline index_t block_of_cluster() { return emulator::current_thread->rank; }

/// Barrier of all threads of all blocks of the cluster. It orders no memory accesses but those that a fence makes
/// known.
inline void cluster_sync(call_site where = {}) { detail::hopper().cluster_sync(*emulator::current_thread, where); }

/// Barrier of the first `Threads` threads that come to barrier `id`, 1 to 15.
template <index_t Threads>
void named_sync(index_t id, call_site where = {}) {
  detail::hopper().named_barrier(*emulator::current_thread, id, Threads, true, where);
}

/// Counts these threads as come to the barrier, without waiting for the others.
template <index_t Threads>
void named_arrive(index_t id, call_site where = {}) {
  detail::hopper().named_barrier(*emulator::current_thread, id, Threads, false, where);
}

/// Registers are not counted here.
template <index_t Registers>
void give_registers_back() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
}
template <index_t Registers>
void take_registers() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
}

/// One launch has ended here when the next one starts.
inline void let_next_kernel_start() {}
inline void wait_for_previous_kernel() {}

}  // namespace host
}  // namespace tilewright::exec
