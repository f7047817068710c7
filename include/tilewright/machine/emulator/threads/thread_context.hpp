// SPDX-License-Identifier: MIT
// State of one emulated thread, and the interface of the block that runs it.
#pragma once

#include <tilewright/core/arch/lds_op.hpp>
#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/block_index.hpp>
#include <tilewright/core/base/call_site.hpp>
#include <tilewright/core/base/math.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::emulator {

/// What an access does to bytes of LDS. An asynchronous copy writes them at some time before the wait for it; threads
/// that arrive at a barrier or wait there update its bytes.
enum class lds_touch : signed char { read, write, atomic_update, barrier_update, begin_copy, end_copy };

struct recent_access {
  std::uint32_t address, time;
  std::uint16_t place;
  std::uint8_t bytes;
  lds_touch how;
};

/// LDS accesses of a thread complete in order, and at most `capacity` of them are in flight.
class recent_accesses {
 public:
  static constexpr index_t capacity = 16;

  void add(const recent_access& access) { accesses_[index_t(count_++ % capacity)] = access; }
  void wait(index_t left) { waited_ = max(waited_, count_ - left); }
  void clear() { count_ = waited_ = 0; }

  /// use(access) for each one that the thread has not waited for, oldest first.
  template <class Use>
  void for_each_in_flight(Use use) {
    for (long_index_t i = max(waited_, count_ - capacity); i < count_; ++i) use(accesses_[index_t(i % capacity)]);
  }

 private:
  array<recent_access, capacity> accesses_;
  long_index_t count_ = 0, waited_ = 0;
};

using exec::block_index;
using exec::call_site;

enum class global_touch : signed char;
struct thread_context;
class hopper_services;

// What a thread asks of the machine. Every function may switch to other threads or throw.

/// What the lanes of a wave, or the threads of a block, do together.
class wave_services {
 public:
  /// Without `waits_for_lds`, accesses that the thread has not waited for stay in flight.
  virtual void block_sync(thread_context&, bool waits_for_lds, call_site) = 0;
  virtual void wave_sync(thread_context&, call_site) = 0;
  virtual unsigned shuffle(thread_context&, unsigned value, index_t source_lane, call_site) = 0;
  virtual std::uint64_t ballot(thread_context&, bool condition, call_site) = 0;
  virtual void mma(thread_context&, arch::matrix_op, arch::matrix_element a_element, arch::matrix_element b_element,
                   void* c, const void* a, const void* b, call_site) = 0;
  virtual array<unsigned, 4> ldmatrix_x4(thread_context&, index_t address, bool transposed, call_site) = 0;
  virtual void stmatrix_x4(thread_context&, index_t address, const array<unsigned, 4>& words, bool transposed,
                           call_site) = 0;
  virtual array<unsigned, 2> transposing_read(thread_context&, index_t address, index_t element_bytes, call_site) = 0;

 protected:
  ~wave_services() = default;
};

/// Checks of accesses to memory, and what orders them.
class memory_services {
 public:
  /// Throws if the bytes are outside of the launch's memory or the access races with another one. The agent is the
  /// thread's number, or who orders later accesses after a copy. `store`: of begin_bulk_store, or 0.
  virtual void check_global_access(const thread_context&, index_t agent, global_touch, const char* place,
                                   long_index_t bytes, call_site, std::uint32_t store = 0) = 0;
  /// A TMA store of the thread, which writes global memory at some time until it is waited for; 0: not checked.
  virtual std::uint32_t begin_bulk_store(const thread_context&) = 0;
  virtual void end_bulk_store(std::uint32_t store) = 0;
  /// What earlier kernels have done happens before what the thread does next.
  virtual void wait_for_previous_kernel(const thread_context&) = 0;
  /// Additions of floats that nothing orders are faults from now on.
  virtual void promise_same_bits() = 0;
  /// Throws if the access races with another one or reads bytes that were never written. Returns the number of its
  /// line.
  virtual unsigned check_lds_access(thread_context&, lds_touch, index_t address, index_t bytes, call_site) = 0;
  /// A store for other blocks and GPUs, 16 bytes; with other ranks it is made as late as it may be.
  virtual void store_late(void* to, const array<float, 4>& values) = 0;
  /// The thread's block reads 16 bytes, which it may have stored.
  virtual void load_late(const void* from) = 0;
  /// What the thread's block has done happens before everything after an acquire of the counter.
  virtual void release(const thread_context&, const unsigned* counter) = 0;
  /// The thread reads the same bytes of global memory again and again: others run first.
  virtual void let_others_run(thread_context&, call_site) = 0;

 protected:
  ~memory_services() = default;
};

class block_services {
 public:
  virtual void allocate_lds(thread_context&, index_t bytes, call_site) = 0;
  virtual void extend_log(thread_context&) = 0;
  /// Throws on a target without this hardware.
  virtual hopper_services& hopper(const thread_context&, call_site) = 0;
  [[noreturn]] virtual void refuse_lds_access(thread_context&, arch::lds_op, index_t address, call_site) = 0;

 protected:
  ~block_services() = default;
};

struct thread_context {
  index_t thread_id = 0;
  index_t lane_id = 0;
  index_t wave_id = 0;
  index_t block_size = 0;
  block_index block = {0, 0, 0};
  index_t num_blocks = 0;  // of the grid along x

  // Blocks of a cluster run together: the block's number in it, the thread's number among all their threads, its wave's
  // among all waves.
  index_t rank = 0;
  index_t number = 0;
  index_t wave_number = 0;

  block_services* services = nullptr;
  wave_services* wave = nullptr;
  memory_services* memory = nullptr;
  const arch::target* target = nullptr;

  char* lds = nullptr;
  index_t lds_bytes = 0;  // what this thread has allocated; nothing can be accessed before

  // The thread's LDS accesses since the last rendezvous, each as place << 32 | lds_op << 24 | byte address; places are
  // told apart only when accesses are checked. The logs of a wave's lanes are interleaved: an entry's neighbours in
  // memory are the same access of the neighbouring lanes.
  std::uint64_t* log = nullptr;
  std::uint64_t* log_end = nullptr;
  index_t log_stride = 0;

  static constexpr index_t log_address_bits = 24;

  bool checks_lds = false;
  recent_accesses recent{};     // where accesses are checked
  call_site scope{nullptr, 0};  // of the outermost call_scope

  bool checks_memory = false;
  bool may_run_early = false;  // while an earlier kernel still runs

  call_site last_place{nullptr, 0};  // of its last call of the machine
  const void* last_load = nullptr;   // from global memory
  index_t loads_from_there = 0;      // consecutive ones

  call_site latest_wgmma{nullptr, 0};  // nullptr: it has started none

  const char* stack_bottom = nullptr;  // below it nothing is accessible for a while
  std::size_t stack_bytes = 0;

  /// The line that faults of the current call name.
  call_site place_of(call_site where) const { return scope.file != nullptr ? scope : where; }

  /// Counts loads from one place of global memory: a thread that repeats them may be waiting for another thread.
  void note_load(const void* from, call_site where) {
    static constexpr index_t patience = 1024;
    if (from != last_load) {
      last_load = from;
      loads_from_there = 0;
    } else if (++loads_from_there == patience) {
      loads_from_there = 0;
      memory->let_others_run(*this, where);
    }
  }

  /// A copy to LDS that async_wait() completes; nullptr as `from` stands for zeros.
  struct async_copy {
    const char* from;
    index_t to, bytes, bytes_read;  // zeros after those that are read
    unsigned place;
    array<char, 16> source;  // as it was when the copy started
    call_site where;
  };
  std::vector<async_copy> async_copies;
  std::vector<std::size_t> async_group_ends;  // copies up to the end of each group
  index_t async_copies_begun = 0;
  std::vector<index_t> async_begins;  // in a wave's first lane: first byte in LDS of each copy of the wave

  /// Throws if the access is outside of the allocated LDS or not aligned to its size.
  void check_place(arch::lds_op op, index_t address, index_t bytes, call_site where) {
    const bool inside = address >= 0 && address <= lds_bytes - bytes;
    if (!inside || (address & (bytes - 1)) != 0) services->refuse_lds_access(*this, op, address, place_of(where));
  }

  /// Checks and logs one LDS access.
  void record(arch::lds_op op, index_t address, index_t bytes, call_site where) {
    check_place(op, address, bytes, where);
    last_place = place_of(where);
    const auto how = arch::is_write(op) ? lds_touch::write : lds_touch::read;
    write_down(op, address, checks_lds ? memory->check_lds_access(*this, how, address, bytes, place_of(where)) : 0);
  }

  void write_down(arch::lds_op op, index_t address, unsigned place) {
    if (log == log_end) services->extend_log(*this);
    *log = std::uint64_t{place} << 32 | unsigned(op) << log_address_bits | unsigned(address);
    log += log_stride;
  }
};

/// The emulated thread that runs now on this thread of the CPU.
inline thread_local constinit thread_context* current_thread = nullptr;

/// While it lives, faults of the thread name this line.
class call_scope {
 public:
  explicit call_scope(call_site where) : thread_(current_thread) {
    if (thread_ == nullptr || thread_->scope.file != nullptr) {
      thread_ = nullptr;
    } else {
      thread_->scope = where;
    }
  }
  call_scope(const call_scope&) = delete;
  call_scope& operator=(const call_scope&) = delete;
  ~call_scope() {
    if (thread_ != nullptr) thread_->scope = {nullptr, 0};
  }

 private:
  thread_context* thread_;  // nullptr: nothing to undo
};

}  // namespace tilewright::emulator
