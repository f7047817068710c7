// SPDX-License-Identifier: MIT
// Exchange of values between the blocks of a cluster that share a row.
#pragma once

#include <tilewright/config/config.hpp>

#if TILEWRIGHT_CPU_PASS || TILEWRIGHT_NVPTX_PASS
#include <tilewright/exec/hopper.hpp>
#else
#include <tilewright/exec/exec.hpp>
#endif

namespace tilewright::detail {

#if TILEWRIGHT_CPU_PASS || TILEWRIGHT_NVPTX_PASS

/// Number of the calling block among those that share its row.
template <index_t Blocks>
TILEWRIGHT_HD index_t block_of_row() {
  if constexpr (Blocks == 1) {
    return 0;
  } else {
    return exec::block_of_cluster();
  }
}
/// Waits until all blocks of the row have started: before the first exchange.
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
/// Stores a value that all lanes of a wave have in the LDS of each block.
template <index_t Blocks, class V>
TILEWRIGHT_HD void store_in_blocks(exec::lds_pointer lds, index_t place, const V& value) {
  const index_t lane = exec::lane_id();
  if constexpr (Blocks > 1) {
    if (lane < Blocks) exec::lds_store_in(lane, lds, place, value);
  } else {
    if (lane == 0) exec::lds_store(lds, place, value);
  }
}
/// Gives lane i of each wave the values of block i % Blocks. `stride` bytes of LDS for each value.
template <index_t Blocks, class... Values>
TILEWRIGHT_HD void exchange_blocks(exec::lds_pointer lds, index_t stride, Values&... values) {
  const index_t lane = exec::lane_id();
  index_t place = exec::block_of_cluster() * 4;
  if (exec::wave_id() == 0 && lane < Blocks) ((exec::lds_store_in(lane, lds, place, values), place += stride), ...);
  exec::cluster_sync_lds();
  place = index_t(unsigned(lane) % unsigned(Blocks)) * 4;
  ((values = exec::lds_load<Values>(lds, place), place += stride), ...);
}

#else  // no clusters

template <index_t Blocks>
TILEWRIGHT_HD index_t block_of_row() {
  return 0;
}
template <index_t Blocks>
TILEWRIGHT_HD void start_cluster() {}
template <index_t Blocks>
TILEWRIGHT_HD void sync_blocks() {
  exec::block_sync();
}
template <index_t Blocks, class V>
TILEWRIGHT_HD void store_in_blocks(exec::lds_pointer lds, index_t place, const V& value) {
  if (exec::lane_id() == 0) exec::lds_store(lds, place, value);
}
template <index_t Blocks, class... Values>
TILEWRIGHT_HD void exchange_blocks(exec::lds_pointer, index_t, Values&...) {}

#endif

}  // namespace tilewright::detail
