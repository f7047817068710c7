// SPDX-License-Identifier: MIT
// What kernels on rows use of Hopper: the blocks of a cluster that share a row, and kernels that overlap in a stream.
#pragma once

#include <tilewright/core/base/config.hpp>

#if TILEWRIGHT_HOPPER_PASS
#include <tilewright/machine/exec/hopper.hpp>
#else
#include <tilewright/machine/exec/exec.hpp>
namespace tilewright::exec {  // a row has one block, kernels do not overlap
TILEWRIGHT_HD void grid_dependency_launch() {}
TILEWRIGHT_HD void grid_dependency_wait() {}
TILEWRIGHT_HD index_t block_of_cluster() { return 0; }
TILEWRIGHT_HD void cluster_sync() {}
TILEWRIGHT_HD void cluster_sync_lds() {}
TILEWRIGHT_HD void lds_store_in(index_t, lds_pointer, index_t, const auto&) {}
TILEWRIGHT_HD void fence_barrier_init() {}
TILEWRIGHT_HD unsigned lds_address(lds_pointer) { return 0; }
struct mbarrier {
  static constexpr index_t bytes = 8;  ///< of an mbarrier in LDS
  unsigned address;                    ///< byte in the block's LDS
  TILEWRIGHT_HD void init(index_t) const {}
  TILEWRIGHT_HD void arrive() const {}
  TILEWRIGHT_HD void arrive_and_expect(index_t) const {}
  TILEWRIGHT_HD void wait(unsigned) const {}
};
TILEWRIGHT_HD void lds_store_in(index_t, lds_pointer, index_t, const auto&, mbarrier) {}
}  // namespace tilewright::exec
#endif

namespace tilewright::detail {

/// Whether kernels start while the last blocks of the previous one run. They must call overlap_kernels() before they
/// touch global memory.
template <class Arch>
inline constexpr bool overlaps_previous_v = Arch::value.has_wgmma;

TILEWRIGHT_HD void overlap_kernels() {
  exec::grid_dependency_launch();
  exec::grid_dependency_wait();
}
/// Number of the calling block among those that share its row.
template <index_t Blocks>
TILEWRIGHT_HD index_t block_of_row() {
  if constexpr (Blocks == 1) return 0;
  return exec::block_of_cluster();
}
/// Waits until all blocks of the row have started: before the first store in them.
template <index_t Blocks>
TILEWRIGHT_HD void start_cluster() {
  if constexpr (Blocks > 1) exec::cluster_sync();
}

}  // namespace tilewright::detail
