// SPDX-License-Identifier: MIT
// Barriers of Hopper GPUs: in LDS (mbarrier), among some waves, among the blocks of a cluster;
// and registers that waves hand over.
#pragma once

#include <tilewright/exec/nvptx/memory.hpp>

namespace tilewright::exec {
inline namespace nvptx {

/// The address by which instructions name a place in LDS.
TILEWRIGHT_HD unsigned lds_address(lds_pointer p) { return static_cast<unsigned>(__cvta_generic_to_shared(p.address)); }

/// A barrier in LDS, 8 bytes. A phase ends when all expected arrivals have been made and all expected bytes have come.
struct mbarrier {
  static constexpr index_t bytes = 8;
  unsigned address;

  TILEWRIGHT_HD void init(index_t arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals));
  }

  /// Waits for the end of the phase of this parity; of a fresh barrier, phase 1 counts as over.
  TILEWRIGHT_HD void wait(unsigned parity) const {
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;}" ::"r"(address),
        "r"(parity)
        : "memory");
  }

  TILEWRIGHT_HD void arrive_and_expect(index_t bytes_to_come) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes_to_come)
                 : "memory");
  }

  TILEWRIGHT_HD void arrive() const {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
  }

  /// Arrives at this barrier's sibling in another block of the cluster.
  TILEWRIGHT_HD void arrive_at(index_t block_of_cluster) const {
    asm volatile(
        "{.reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(address),
        "r"(block_of_cluster)
        : "memory");
  }
};

/// Makes initialised barriers known to the other blocks of the cluster and to copies.
TILEWRIGHT_HD void fence_barrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// What this thread wrote to LDS is seen by copies and matrix instructions that start after the next barrier.
TILEWRIGHT_HD void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Orders what this thread did before and does after for the block's other threads.
TILEWRIGHT_HD void fence_block() { __threadfence_block(); }

/// Blocks of the grid along x.
TILEWRIGHT_HD index_t num_blocks() { return index_t(gridDim.x); }

/// The block's number in its cluster.
TILEWRIGHT_HD index_t block_of_cluster() {
  index_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Barrier of all threads of all blocks of the cluster. It orders no memory
/// accesses but those that a fence makes known.
TILEWRIGHT_HD void cluster_sync() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Barrier of the first `Threads` threads that come to barrier `id`, 1 to 15.
template <index_t Threads>
TILEWRIGHT_HD void named_sync(index_t id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(Threads) : "memory");
}

/// Counts these threads as come to the barrier, without waiting for the others.
template <index_t Threads>
TILEWRIGHT_HD void named_arrive(index_t id) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(Threads) : "memory");
}

/// Registers of each thread, from here on: a warpgroup gives some back, or waits for some. All its waves must call it.
template <index_t Registers>
TILEWRIGHT_HD void give_registers_back() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <index_t Registers>
TILEWRIGHT_HD void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Lets the next kernel of the stream start its blocks as soon as this one leaves room, and waits until all earlier
/// kernels are complete and what they wrote is seen.
TILEWRIGHT_HD void let_next_kernel_start() { asm volatile("griddepcontrol.launch_dependents;"); }
TILEWRIGHT_HD void wait_for_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

}  // namespace nvptx
}  // namespace tilewright::exec
