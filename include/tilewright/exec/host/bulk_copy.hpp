// SPDX-License-Identifier: MIT
// Copies of whole boxes between tensors in global memory and LDS, for kernels that run on the CPU. They do what they do
// as late as they may: boxes come to LDS when no thread can go on without them, and leave it when their thread waits
// for that.
#pragma once

#include <tilewright/exec/host/barrier.hpp>

namespace tilewright::exec {
inline namespace host {

/// Fetches the description of a tensor before it is needed.
inline void prefetch(const tensor_map&) {}

/// Element (x, y, z) of the tensor and all of its box, to LDS. What lies outside of the tensor becomes zero.
inline void bulk_load(unsigned lds, const tensor_map& map, mbarrier done, index_t x, index_t y, index_t z,
                      call_site where = {}) {
  emulator::thread_context& self = *emulator::current_thread;
  detail::hopper().bulk_load(self, {&map, index_t(lds), {x, y, z}}, index_t(done.address), 1u << self.rank, where);
}

/// The same to the same place in each block of the cluster whose bit is set in `blocks`; each one's own barrier counts
/// its bytes.
inline void bulk_load_multicast(unsigned lds, const tensor_map& map, mbarrier done, unsigned blocks, index_t x,
                                index_t y, index_t z, call_site where = {}) {
  detail::hopper().bulk_load(*emulator::current_thread, {&map, index_t(lds), {x, y, z}}, index_t(done.address), blocks,
                             where);
}

/// A box from LDS to the tensor. What lies outside of the tensor is not written; but where its rows are no multiple of
/// 16 bytes long, zeros complete the last 16.
inline void bulk_store(const tensor_map& map, unsigned lds, index_t x, index_t y, index_t z, call_site where = {}) {
  detail::hopper().bulk_store(*emulator::current_thread, {&map, index_t(lds), {x, y, z}}, where);
}

/// Ends a group of this thread's stores.
inline void commit_bulk_stores() { detail::hopper().commit_bulk_stores(*emulator::current_thread); }

/// Waits until at most `Pending` groups of this thread's stores have yet to read their LDS.
template <index_t Pending>
void wait_for_bulk_stores_to_read(call_site where = {}) {
  detail::hopper().wait_for_bulk_stores(*emulator::current_thread, Pending, where);
}

}  // namespace host
}  // namespace tilewright::exec
