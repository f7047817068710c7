// SPDX-License-Identifier: MIT
// Copies of whole boxes between tensors in global memory and LDS (TMA). One thread starts a copy;
// an mbarrier counts its bytes.
#pragma once

#include <tilewright/arch/tensor_map.hpp>
#include <tilewright/exec/nvptx/barrier.hpp>

namespace tilewright::exec {
inline namespace nvptx {

/// Fetches the description of a tensor before it is needed.
TILEWRIGHT_HD void prefetch(const tensor_map& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

/// Element (x, y, z) of the tensor and all of its box, to LDS. What lies outside of the tensor becomes zero.
TILEWRIGHT_HD void bulk_load(unsigned lds, const tensor_map& map, mbarrier done, index_t x, index_t y, index_t z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(lds),
      "l"(&map), "r"(done.address), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// The same to the same place in each block of the cluster whose bit is set in `blocks`;
/// each one's own barrier counts its bytes.
TILEWRIGHT_HD void bulk_load_multicast(unsigned lds, const tensor_map& map, mbarrier done, unsigned blocks, index_t x,
                                       index_t y, index_t z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
      "{%3, %4, %5}], "
      "[%2], %6;" ::"r"(lds),
      "l"(&map), "r"(done.address), "r"(x), "r"(y), "r"(z), "h"(static_cast<unsigned short>(blocks))
      : "memory");
}

/// A box from LDS to the tensor. What lies outside of the tensor is not written; but where its rows are no multiple of
/// 16 bytes long, zeros complete the last 16.
TILEWRIGHT_HD void bulk_store(const tensor_map& map, unsigned lds, index_t x, index_t y, index_t z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
               "r"(lds), "r"(x), "r"(y), "r"(z)
               : "memory");
}

/// Ends a group of this thread's stores.
TILEWRIGHT_HD void commit_bulk_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until at most `Pending` groups of this thread's stores have yet to read their LDS.
template <index_t Pending>
TILEWRIGHT_HD void wait_for_bulk_stores_to_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

}  // namespace nvptx
}  // namespace tilewright::exec
