// SPDX-License-Identifier: MIT
// Interface of Hopper's barriers, bulk copies and warpgroup matrix instructions for emulated threads.
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
  const tensor_map* map;
  index_t lds;
  index_t at[5];
  bool ragged = false;
};

/// What the lanes of a warpgroup pass to a matrix instruction.
struct wgmma_operands {
  unsigned long long a, b;  // descriptors
  arch::matrix_element element;
  index_t n;
  bool transpose_a, transpose_b, accumulate;
  bool a_in_registers = false;

  friend bool operator==(const wgmma_operands&, const wgmma_operands&) = default;
};

/// Places in LDS are byte addresses of the thread's block, or of the block of its cluster that is named.
class hopper_services {
 public:
  virtual void init_barrier(thread_context&, index_t address, index_t arrivals, call_site) = 0;
  virtual void invalidate_barrier(thread_context&, index_t address, call_site) = 0;
  virtual void arrive(thread_context&, index_t block, index_t address, index_t bytes_to_come, call_site) = 0;
  virtual void wait(thread_context&, index_t address, unsigned parity, call_site) = 0;
  virtual void fence_barrier_init(thread_context&) = 0;
  virtual void fence_async_proxy(thread_context&) = 0;
  virtual void fence_async_proxy_global(thread_context&) = 0;
  virtual void cluster_sync(thread_context&, call_site) = 0;
  /// barrier: that counts the bytes, or -1.
  virtual void store_in(thread_context&, index_t block, index_t address, unsigned value, index_t barrier,
                        call_site) = 0;
  virtual void named_barrier(thread_context&, index_t id, index_t threads, bool waits, call_site) = 0;
  virtual void wait_for_count(thread_context&, const unsigned* counter, unsigned n, call_site) = 0;
  virtual bool wait_for_flag(thread_context&, const unsigned* flag, unsigned n, call_site) = 0;

  virtual void tma_load(thread_context&, const tma_box&, index_t barrier, unsigned blocks, call_site) = 0;
  virtual void tma_store(thread_context&, const tma_box&, call_site) = 0;
  virtual void tma_reduce_add(thread_context&, float* to, index_t lds, index_t bytes, call_site) = 0;
  virtual void tma_store_commit(thread_context&) = 0;
  virtual void tma_store_wait(thread_context&, index_t pending, call_site) = 0;
  virtual void write_bulk_stores(const thread_context&, index_t pending) = 0;

  virtual void set_registers(thread_context&, index_t registers, call_site) = 0;
  virtual void wgmma_fence(thread_context&) = 0;
  /// `a`: the 16 bytes of a that the thread holds, if the operands say so.
  virtual void wgmma(thread_context&, float* c, const void* a, const wgmma_operands&, call_site) = 0;
  virtual void wgmma_commit(thread_context&) = 0;
  virtual void wgmma_wait(thread_context&, index_t pending, call_site) = 0;

 protected:
  ~hopper_services() = default;
};

}  // namespace tilewright::emulator
