// SPDX-License-Identifier: MIT
// What one emulated thread knows of itself, and the services of the block that runs it.
#pragma once

#include <tilewright/arch/lds_op.hpp>
#include <tilewright/arch/matrix_instruction.hpp>
#include <tilewright/arch/target.hpp>
#include <tilewright/exec/block_index.hpp>
#include <tilewright/util/array.hpp>

#include <vector>

namespace tilewright::exec {
inline namespace host {

/// Element type of a matrix instruction's operands.
enum class matrix_element : signed char { f16, bf16 };

struct thread_context;

/// What the emulated block does for a thread. Every function may switch to other threads or throw.
class block_services {
 public:
  virtual void block_sync(thread_context&) = 0;
  virtual void allocate_lds(thread_context&, index_t bytes) = 0;
  virtual unsigned shuffle(thread_context&, unsigned value, index_t source_lane) = 0;
  virtual void mma(thread_context&, arch::matrix_op, matrix_element, float* c, const void* a, const void* b) = 0;
  virtual array<unsigned, 4> ldmatrix_x4(thread_context&, index_t address) = 0;
  virtual void extend_log(thread_context&) = 0;
  [[noreturn]] virtual void refuse_lds_access(thread_context&, arch::lds_op, index_t address, index_t bytes) = 0;

 protected:
  ~block_services() = default;
};

struct thread_context {
  index_t thread_id = 0;
  index_t lane_id = 0;
  index_t wave_id = 0;
  block_index block = {0, 0, 0};
  block_services* services = nullptr;
  const arch::target* target = nullptr;

  char* lds = nullptr;
  index_t lds_bytes = 0;  // what this thread has allocated; nothing can be accessed before

  // The thread's LDS accesses since the last rendezvous, each as lds_op << 24 | byte address. The logs of a wave's
  // lanes are interleaved: an entry's neighbours in memory are the same access of the neighbouring lanes.
  unsigned* log = nullptr;
  unsigned* log_end = nullptr;
  index_t log_stride = 0;

  static constexpr index_t log_address_bits = 24;

  /// A copy to LDS that async_wait() completes; from nullptr come zeros.
  struct async_copy {
    const char* from;
    index_t to, bytes;
  };
  std::vector<async_copy> async_copies;
  index_t async_copies_begun = 0;
  std::vector<index_t> async_begins;  // of a wave's first lane: where in LDS each copy of the wave begins

  /// Throws if the access is outside of the allocated LDS or not aligned to its size.
  void check_place(arch::lds_op op, index_t address, index_t bytes) {
    const bool inside = address >= 0 && address + bytes <= lds_bytes;
    if (!inside || (address & (bytes - 1)) != 0) services->refuse_lds_access(*this, op, address, bytes);
  }

  /// Checks one LDS access and writes it down.
  void record(arch::lds_op op, index_t address, index_t bytes) {
    check_place(op, address, bytes);
    if (log == log_end) services->extend_log(*this);
    *log = unsigned(op) << log_address_bits | unsigned(address);
    log += log_stride;
  }
};

/// The emulated thread that runs now on this thread of the CPU.
inline thread_local constinit thread_context* current_thread = nullptr;

}  // namespace host
}  // namespace tilewright::exec
