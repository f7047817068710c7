// SPDX-License-Identifier: MIT
// Interface of Hopper's barriers, TMA copies and warpgroup matrix instructions for emulated threads.
#pragma once

#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/core/arch/tensor_map.hpp>
#include <tilewright/core/base/call_site.hpp>
#include <tilewright/core/base/index.hpp>

namespace tilewright::emulator {

using exec::call_site;
using exec::tensor_map;
using exec::tensor_map_request;

struct thread_context;

/// A box of a tensor and its place in LDS. With a ragged map at[2] is the row at which the tensor ends.
struct tma_box {
  const tensor_map* map;  ///< of the tensor
  index_t lds;            ///< byte address in LDS; aligned to 128
  index_t at[5];          ///< the box's first element, by dimension, innermost first
  bool ragged = false;    ///< the tensor ends at row at[2]
};

/// What the lanes of a warpgroup pass to a matrix instruction.
struct wgmma_operands {
  unsigned long long a, b;       ///< descriptors
  arch::matrix_element element;  ///< of A and B
  index_t n;                     ///< columns of C: a multiple of 8, 8 to 256
  /// Transposed: contiguous along m or n, 16-bit elements only. `accumulate`: C += A B, else C = A B.
  bool transpose_a, transpose_b, accumulate;
  bool a_in_registers = false;  ///< else by descriptor in LDS

  friend bool operator==(const wgmma_operands&, const wgmma_operands&) = default;
};

/// Places in LDS are byte addresses of the thread's block, or of the block of its cluster that is named.
class hopper_services {
 public:
  /// mbarrier.init.
  virtual void init_barrier(thread_context&, index_t address, index_t arrivals, call_site) = 0;
  /// mbarrier.inval.
  virtual void invalidate_barrier(thread_context&, index_t address, call_site) = 0;
  /// mbarrier.arrive at the barrier of a block of the cluster; bytes_to_come: expect_tx, 0: none. `copy`: a copy of the
  /// thread that arrives before; its file is nullptr where there is none.
  virtual void arrive(thread_context&, index_t block, index_t address, index_t bytes_to_come, call_site copy,
                      call_site) = 0;
  /// Returns when the phase of this parity has ended.
  virtual void wait(thread_context&, index_t address, unsigned parity, call_site) = 0;
  /// Publishes the thread's mbarrier.init to the cluster.
  virtual void fence_barrier_init(thread_context&) = 0;
  /// Makes the thread's LDS accesses visible to copies and wgmma.
  virtual void fence_async_proxy(thread_context&) = 0;
  /// Makes accesses to global memory that happen before visible to TMA.
  virtual void fence_async_proxy_global(thread_context&) = 0;
  /// A barrier of all threads of the cluster.
  virtual void cluster_sync(thread_context&, call_site) = 0;
  /// barrier: that counts the bytes, or -1.
  virtual void store_in(thread_context&, index_t block, index_t address, unsigned value, index_t barrier,
                        call_site) = 0;
  /// bar.sync of `threads` threads, or bar.arrive without `waits`.
  virtual void named_barrier(thread_context&, index_t id, index_t threads, bool waits, call_site) = 0;
  /// Waits until a counter in global memory is at least n.
  virtual void wait_for_count(thread_context&, const unsigned* counter, unsigned n, call_site) = 0;
  /// Whether a flag in global memory is at least n; waits, but returns false when no other thread can change it.
  virtual bool wait_for_flag(thread_context&, const unsigned* flag, unsigned n, call_site) = 0;

  /// Starts a copy from the tensor to LDS of each block whose bit is set in `blocks`; its bytes count at `barrier`
  /// there.
  virtual void tma_load(thread_context&, const tma_box&, index_t barrier, unsigned blocks, call_site) = 0;
  /// Starts a copy from LDS to the tensor.
  virtual void tma_store(thread_context&, const tma_box&, call_site) = 0;
  /// Starts adding `bytes` bytes of floats in LDS to `to`.
  virtual void tma_reduce_add(thread_context&, float* to, index_t lds, index_t bytes, call_site) = 0;
  /// Ends the thread's group of stores.
  virtual void tma_store_commit(thread_context&) = 0;
  /// Waits until at most `pending` of the thread's groups still read LDS.
  virtual void tma_store_wait(thread_context&, index_t pending, call_site) = 0;
  /// Makes the writes of all but the `pending` latest groups of the thread visible.
  virtual void write_bulk_stores(const thread_context&, index_t pending) = 0;

  /// setmaxnreg: registers of each thread of the warp.
  virtual void set_registers(thread_context&, index_t registers, call_site) = 0;
  /// Orders the warpgroup's register accesses before its next wgmma.
  virtual void wgmma_fence(thread_context&) = 0;
  /// `a`: the 16 bytes of a that the thread holds, if the operands say so.
  virtual void wgmma(thread_context&, float* c, const void* a, const wgmma_operands&, call_site) = 0;
  /// Ends the group of matrix instructions.
  virtual void wgmma_commit(thread_context&) = 0;
  /// Waits until at most `pending` groups are in flight.
  virtual void wgmma_wait(thread_context&, index_t pending, call_site) = 0;

 protected:
  ~hopper_services() = default;
};

}  // namespace tilewright::emulator
