// SPDX-License-Identifier: MIT
// What kernels on rows use of Hopper: the blocks of a cluster that share a row, and kernels that overlap in a stream.
#pragma once

#include <tilewright/config/config.hpp>

#if TILEWRIGHT_HOPPER_PASS
#include <tilewright/exec/hopper.hpp>
#else
#include <tilewright/exec/exec.hpp>
namespace tilewright::exec {  // a row has one block, kernels do not overlap
TILEWRIGHT_HD void let_next_kernel_start() {}
TILEWRIGHT_HD void wait_for_previous_kernel() {}
TILEWRIGHT_HD index_t block_of_cluster() { return 0; }
TILEWRIGHT_HD void cluster_sync() {}
TILEWRIGHT_HD void cluster_sync_lds() {}
TILEWRIGHT_HD void lds_store_in(index_t, lds_pointer, index_t, const auto&) {}
}  // namespace tilewright::exec
#endif

namespace tilewright::detail {

/// Whether kernels start while the last blocks of the previous one run. They must call overlap_kernels() before they
/// touch global memory.
template <class Arch>
inline constexpr bool overlaps_previous_v = Arch::value.has_wgmma;

TILEWRIGHT_HD void overlap_kernels() {
  exec::let_next_kernel_start();
  exec::wait_for_previous_kernel();
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
/// Barrier of the blocks, which makes earlier LDS accesses visible in all of them.
template <index_t Blocks>
TILEWRIGHT_HD void sync_blocks() {
  if constexpr (Blocks > 1) {
    exec::cluster_sync_lds();
  } else {
    exec::block_sync();
  }
}
/// Stores a value of 4 bytes, which all lanes of a wave have, in the LDS of each block.
template <index_t Blocks, class V>
TILEWRIGHT_HD void store_in_blocks(exec::lds_pointer lds, index_t place, const V& value) {
  const index_t lane = exec::lane_id();
  if constexpr (Blocks > 1) {
    if (lane < Blocks) exec::lds_store_in(lane, lds, place, value);
  } else {
    if (lane == 0) exec::lds_store(lds, place, value);
  }
}

}  // namespace tilewright::detail
