// SPDX-License-Identifier: MIT
// The blocks of a cluster that share a row.
#pragma once

#include <tilewright/config/config.hpp>

#if TILEWRIGHT_HOPPER_PASS
#include <tilewright/exec/hopper.hpp>
#else
#include <tilewright/exec/exec.hpp>
namespace tilewright::exec {  // never called: a row has one block
TILEWRIGHT_HD index_t block_of_cluster() { return 0; }
TILEWRIGHT_HD void cluster_sync() {}
TILEWRIGHT_HD void cluster_sync_lds() {}
TILEWRIGHT_HD void lds_store_in(index_t, lds_pointer, index_t, const auto&) {}
}  // namespace tilewright::exec
#endif

namespace tilewright::detail {

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
