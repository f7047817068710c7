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
#include <tilewright/machine/emulator/threads/memory_scope.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::emulator {

/// What an access does to bytes of LDS. An asynchronous copy writes them at some time before the wait for it; threads
/// that arrive at a barrier or wait there update its bytes.
enum class lds_touch : signed char { read, write, atomic_update, barrier_update, begin_copy, end_copy };

struct recent_access {
  /// `address`: byte in LDS; `time`: of the cluster's access_order.
  std::uint32_t address, time;
  std::uint16_t site;  ///< index of its source line
  std::uint8_t bytes;  ///< its length
  lds_touch how;       ///< what it did
};

/// LDS accesses of a thread complete in order, and at most `capacity` of them are in flight.
class recent_accesses {
 public:
  static constexpr index_t capacity = 16;  ///< accesses in flight at most

  /// A new access, in flight; the oldest of `capacity` completes.
  void add(const recent_access& access) { accesses_[index_t(count_++ % capacity)] = access; }
  /// All but the latest `left` have completed.
  void wait(index_t left) { waited_ = max(waited_, count_ - left); }
  /// Nothing is in flight.
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
  /// The lanes of the wave synchronise.
  virtual void wave_sync(thread_context&, call_site) = 0;
  /// The 4 bytes of lane `source_lane` modulo the wave size.
  virtual unsigned shuffle(thread_context&, unsigned value, index_t source_lane, call_site) = 0;
  /// Bit i: the condition of lane i.
  virtual std::uint64_t ballot(thread_context&, bool condition, call_site) = 0;
  /// A matrix instruction; a, b, c: the lane's registers.
  virtual void mma(thread_context&, arch::matrix_op, arch::matrix_element a_element, arch::matrix_element b_element,
                   void* c, const void* a, const void* b, call_site) = 0;
  /// The lane addresses a row of 16 bytes; returns its words of four 8 x 8 matrices.
  virtual array<unsigned, 4> ldmatrix_x4(thread_context&, index_t address, bool transposed, call_site) = 0;
  /// The opposite of ldmatrix_x4.
  virtual void stmatrix_x4(thread_context&, index_t address, const array<unsigned, 4>& words, bool transposed,
                           call_site) = 0;
  /// gfx950's ds_read_b64_tr: the lane addresses 8 bytes; elements of 1 or 2 bytes.
  virtual array<unsigned, 2> transposing_read(thread_context&, index_t address, index_t element_bytes, call_site) = 0;

 protected:
  ~wave_services() = default;
};

/// Checks of accesses to memory, and what orders them.
class memory_services {
 public:
  /// Throws if the bytes are outside of the launch's memory or the access races with another one. The agent is the
  /// thread's number, or who orders later accesses after a copy. `store`: of begin_bulk_store, or 0.
  virtual void check_global_access(const thread_context&, index_t agent, global_touch, const char* data,
                                   long_index_t bytes, call_site, std::uint32_t store = 0) = 0;
  /// A TMA store of the thread, which writes global memory at some time until it is waited for; 0: not checked.
  virtual std::uint32_t begin_bulk_store(const thread_context&) = 0;
  /// The thread has waited for it. 0: nothing.
  virtual void end_bulk_store(std::uint32_t store) = 0;
  /// What earlier kernels have done happens before what the thread does next.
  virtual void wait_for_previous_kernel(const thread_context&) = 0;
  /// Additions of floats that nothing orders are faults from now on.
  virtual void guarantee_same_bits() = 0;
  /// The launch ends with a fault if the counter in global memory is not 0 then.
  virtual void guarantee_reset(const thread_context&, const unsigned* counter, call_site) = 0;
  /// Throws if the access races with another one or reads bytes that were never written. Returns the number of its
  /// line.
  virtual unsigned check_lds_access(thread_context&, lds_touch, index_t address, index_t bytes, call_site) = 0;
  /// A store for other blocks and GPUs, 16 bytes; with other ranks it is made as late as it may be.
  virtual void store_late(void* to, const array<float, 4>& values) = 0;
  /// The thread's block reads 16 bytes, which it may have stored.
  virtual void load_late(const void* from) = 0;
  /// What the thread's block has done happens before everything after an acquire of the counter.
  virtual void release(const thread_context&, const unsigned* counter, memory_scope) = 0;
  /// The thread has read a counter in global memory: what was released to it happens before the next access. Throws if
  /// the scopes leave one of the GPUs out.
  virtual void acquire(const thread_context&, const unsigned* counter, memory_scope, call_site) = 0;
  /// The thread reads the same bytes of global memory again and again: others run first.
  virtual void let_others_run(thread_context&, call_site) = 0;

 protected:
  ~memory_services() = default;
};

class block_services {
 public:
  /// The thread's lds_allocate; throws if the launch has given less, or at a second call.
  virtual void allocate_lds(thread_context&, index_t bytes, call_site) = 0;
  /// Makes room in the log of the wave's lanes; throws if the thread repeats one access for ever.
  virtual void extend_log(thread_context&) = 0;
  /// Throws on a target without this hardware.
  virtual hopper_services& hopper(const thread_context&, call_site) = 0;
  /// Throws the fault of an access outside of the thread's LDS.
  [[noreturn]] virtual void refuse_lds_access(thread_context&, arch::lds_op, index_t address, call_site) = 0;

 protected:
  ~block_services() = default;
};

struct thread_context {
  index_t thread_id = 0;          ///< in its block
  index_t lane_id = 0;            ///< in its wave
  index_t wave_id = 0;            ///< in its block
  index_t block_size = 0;         ///< threads of the block
  block_index block = {0, 0, 0};  ///< the block in the grid
  index_t num_blocks = 0;         ///< of the grid along x

  // Blocks of a cluster run together.
  index_t rank = 0;         ///< the block's number in its cluster
  index_t number = 0;       ///< among all threads of the cluster
  index_t wave_number = 0;  ///< among all waves of the cluster

  block_services* services = nullptr;    ///< what the block does
  wave_services* wave = nullptr;         ///< what waves do together
  memory_services* memory = nullptr;     ///< checks of accesses
  const arch::target* target = nullptr;  ///< the GPU that is emulated

  char* lds = nullptr;    ///< of the block
  index_t lds_bytes = 0;  ///< what this thread has allocated; nothing can be accessed before

  // The thread's LDS accesses since the last rendezvous, each as site << 32 | lds_op << 24 | byte address; sites are
  // distinguished only when accesses are checked. The logs of a wave's lanes are interleaved: an entry's neighbours in
  // memory are the same access of the neighbouring lanes.
  std::uint64_t* log = nullptr;      ///< the next entry
  std::uint64_t* log_end = nullptr;  ///< where extend_log() is needed
  index_t log_stride = 0;            ///< entries from one of this lane to its next

  static constexpr index_t log_address_bits = 24;  ///< bits of an entry that hold the address

  bool checks_lds = false;      ///< whether LDS accesses are checked
  recent_accesses recent{};     ///< where accesses are checked
  call_site scope{nullptr, 0};  ///< of the outermost call_scope

  bool checks_memory = false;  ///< whether accesses to global memory are checked
  bool may_run_early = false;  ///< whether an earlier kernel may still run

  call_site last_site{nullptr, 0};  ///< of its last call of the machine
  const void* last_load = nullptr;  ///< from global memory
  index_t loads_from_there = 0;     ///< consecutive ones

  call_site latest_wgmma{nullptr, 0};  ///< nullptr: it has started none

  const char* stack_bottom = nullptr;  ///< below it nothing is accessible for a while
  std::size_t stack_bytes = 0;         ///< of the thread

  /// The line that faults of the current call name.
  call_site site_of(call_site where) const { return scope.file != nullptr ? scope : where; }

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
    const char* from;  ///< in global memory
    /// `to`: byte address in LDS; `bytes`: written there, of which `bytes_read` come from memory, then zeros.
    index_t to, bytes, bytes_read;  ///< zeros after those that are read
    unsigned site;                  ///< index of the source line
    array<char, 16> source;         ///< as it was when the copy started
    call_site where;                ///< the source line
  };
  std::vector<async_copy> async_copies;       ///< started and not yet waited for, oldest first
  std::vector<std::size_t> async_group_ends;  ///< copies up to the end of each group
  index_t async_copies_begun = 0;             ///< by this thread in the kernel
  std::vector<index_t> async_begins;          ///< in a wave's first lane: first byte in LDS of each copy of the wave

  /// Throws if the access is outside of the allocated LDS or not aligned to its size.
  void check_address(arch::lds_op op, index_t address, index_t bytes, call_site where) {
    const bool inside = address >= 0 && address <= lds_bytes - bytes;
    if (!inside || (address & (bytes - 1)) != 0) services->refuse_lds_access(*this, op, address, site_of(where));
  }

  /// Checks and logs one LDS access.
  void record(arch::lds_op op, index_t address, index_t bytes, call_site where) {
    check_address(op, address, bytes, where);
    last_site = site_of(where);
    const auto how = arch::is_write(op) ? lds_touch::write : lds_touch::read;
    write_down(op, address, checks_lds ? memory->check_lds_access(*this, how, address, bytes, site_of(where)) : 0);
  }

  /// Logs an access for the counts of conflicts; `site`: index of its source line.
  void write_down(arch::lds_op op, index_t address, unsigned site) {
    if (log == log_end) services->extend_log(*this);
    *log = std::uint64_t{site} << 32 | unsigned(op) << log_address_bits | unsigned(address);
    log += log_stride;
  }
};

/// The emulated thread that runs now on this thread of the CPU.
inline thread_local constinit thread_context* current_thread = nullptr;

/// While it lives, faults of the thread name this line.
class call_scope {
 public:
  /// From here on, faults name this line, unless an outer scope does.
  explicit call_scope(call_site where) : thread_(current_thread) {
    if (thread_ == nullptr || thread_->scope.file != nullptr) {
      thread_ = nullptr;
    } else {
      thread_->scope = where;
    }
  }
  call_scope(const call_scope&) = delete;
  call_scope& operator=(const call_scope&) = delete;
  /// Ends the scope.
  ~call_scope() {
    if (thread_ != nullptr) thread_->scope = {nullptr, 0};
  }

 private:
  thread_context* thread_;  // nullptr: nothing to undo
};

}  // namespace tilewright::emulator
