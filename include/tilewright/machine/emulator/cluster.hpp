// SPDX-License-Identifier: MIT
// The blocks of a cluster: one fiber per emulated thread, the LDS of each block, and what checks accesses to it.
#pragma once

#include <tilewright/machine/emulator/global/global_memory.hpp>
#include <tilewright/machine/emulator/lds/lds_checker.hpp>
#include <tilewright/machine/emulator/threads/fibers.hpp>
#include <tilewright/machine/emulator/threads/meeting.hpp>
#include <tilewright/machine/emulator/watchdog.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tilewright::emulator {

/// The shape of a launch, as far as each cluster needs it.
struct cluster_shape {
  index_t num_blocks = 1;       ///< of the grid along x
  index_t cluster = 1;          ///< blocks that run together
  index_t block_size = 0;       ///< threads of a block; a multiple of the wave size
  index_t lds_bytes = 0;        ///< of each block
  bool checks_lds = false;      ///< whether LDS accesses are checked for races and uninitialised bytes
  std::size_t stack_bytes = 0;  ///< of each emulated thread
  std::uint64_t seed = 0;       ///< of the order in which threads run; 0: by number
  bool has_ranks = false;       ///< other launches run at the same time
  std::uint32_t launch = 0;     ///< of the launches that share its global memory

  /// Threads of a cluster.
  index_t num_threads() const { return block_size * cluster; }
};

class cluster final : public memory_services {
 public:
  /// run_thread(argument, number) is the body of each thread.
  cluster(const arch::target& target, const cluster_shape& shape, block_services& services, wave_services& wave,
          worker_progress& progress, global_memory& memory, fiber_group::body run_thread, void* argument)
      : block_size_(shape.block_size),
        lds_stride_(tilewright::detail::round_up(shape.lds_bytes + 1, lds_alignment)),
        lds_total_(lds_stride_ * shape.cluster),
        progress_(progress),
        memory_(memory),
        has_ranks_(shape.has_ranks),
        launch_(shape.launch),
        lds_(static_cast<char*>(::operator new(std::size_t(lds_total_), std::align_val_t{std::size_t(lds_alignment)}))),
        order_(shape.num_threads()),
        threads_(std::size_t(shape.num_threads())),
        waits_at_(threads_.size()),
        fibers_(shape.num_threads(), target.wave_size, shape.stack_bytes, shape.seed, run_thread, argument) {
    for (index_t i = 0; i < index_t(threads_.size()); ++i) {
      thread_context& thread = threads_[std::size_t(i)];
      thread.number = i;
      thread.rank = i / block_size_;
      thread.num_blocks = shape.num_blocks;
      thread.thread_id = i % block_size_;
      thread.lane_id = thread.thread_id % target.wave_size;
      thread.wave_id = thread.thread_id / target.wave_size;
      thread.wave_number = i / target.wave_size;
      thread.block_size = block_size_;
      thread.services = &services;
      thread.wave = &wave;
      thread.memory = this;
      thread.target = &target;
      thread.lds = lds_.get() + thread.rank * lds_stride_;
      thread.checks_lds = shape.checks_lds;
      thread.checks_memory = memory.is_checked();
      thread.stack_bottom = fibers_.stack_of(i);
      thread.stack_bytes = shape.stack_bytes;
    }
    for (index_t block = 0; shape.checks_lds && block < shape.cluster; ++block)
      checkers_.emplace_back(order_, sites_, target.wave_size, block, block_size_, shape.lds_bytes);
  }

  /// Gives all threads a new block, with LDS that nothing has been written to.
  void start(block_index first) {
    std::fill_n(reinterpret_cast<std::uint16_t*>(lds_.get()), lds_total_ / 2, poison);
    const bool restarts_time = order_.begin_cluster();
    for (lds_checker& checker : checkers_) checker.begin_block(restarts_time);
    for (thread_context& thread : threads_) {
      thread.block = {first.x + thread.rank, first.y, first.z};
      thread.lds_bytes = 0;
      thread.recent.clear();
      thread.last_site = {nullptr, 0};
      thread.last_load = nullptr;
      thread.latest_wgmma = {nullptr, 0};
      thread.may_run_early = memory_.has_earlier_kernels();
      thread.async_copies.clear();
      thread.async_group_ends.clear();
      thread.async_copies_begun = 0;
      thread.async_begins.clear();
    }
    std::fill(waits_at_.begin(), waits_at_.end(), waiting_site{});
    looping_.clear();
    idle_rounds_ = 0;
    if (memory_.is_checked())
      number_ = memory_.order().begin_cluster({first, order_.num_threads(), block_size_, launch_});
  }

  /// Runs all threads. Whenever all of them wait, idle() may wake some and return true. False if some wait forever.
  template <class Idle>
  bool run(Idle idle) {
    const bool all_ended = fibers_.run(idle);
    current_thread = nullptr;
    progress_.running = nullptr;
    return all_ended;
  }
  /// After the last thread of a cluster has ended: late stores reach memory; throws if copies to LDS are still in
  /// flight.
  void finish() {
    make_late_stores();
    for (const lds_checker& checker : checkers_) checker.end_block();
  }

  /// Makes a thread the running one of this thread of the CPU.
  void run_on(thread_context& self) {
    current_thread = &self;
    progress_.running.store(&self, std::memory_order_relaxed);
    progress_.switches.store(progress_.switches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Marks a thread that has left the kernel.
  void end(const thread_context& self) { waits_at_[std::size_t(self.number)].at = meeting::ended; }

  /// The running thread waits until it is woken.
  void wait(thread_context& self, meeting at, call_site where) {
    waiting_site& site = waits_at_[std::size_t(self.number)];
    if (at == meeting::unchanged_value) note_wait_for_blocks();
    site = {at, self.site_of(where)};
    self.last_site = site.where;
    fibers_.wait(self.number);
    site.at = meeting::none;
    if (at != meeting::unchanged_value) idle_rounds_ = 0;
    run_on(self);
  }
  /// Lets a waiting thread run again. `number`: among the threads of the cluster.
  void wake(index_t number) { fibers_.wake(number, 1); }
  /// The same for `count` consecutive threads.
  void wake(index_t first, index_t count) { fibers_.wake(first, count); }
  /// Of the explorer that the threads run in; nullptr: there is none.
  schedule_choices* choices() const { return fibers_.choices(); }
  /// A thread waits for what another block writes to global memory.
  void note_wait_for_blocks() const {
    if (choices() != nullptr) choices()->note_wait_for_blocks();
  }
  /// What may happen whenever an explored thread waits. It must outlive the runs.
  void set_events(pending_events& events) { fibers_.set_events(events); }
  /// Whether a thread can run.
  bool any_ready() const { return fibers_.any_ready(); }

  /// The thread waits for a value in global memory: it runs again when all others wait.
  void let_others_run(thread_context& self, call_site where) override {
    looping_.push_back(self.number);
    wait(self, meeting::unchanged_value, where);
  }
  /// Wakes the threads that wait for a value in global memory: a few times, or as long as `others_run()`, which says
  /// whether blocks with lower numbers are running elsewhere. False if there are none.
  template <class OthersRun>
  bool look_again(OthersRun others_run) {
    constexpr index_t patience = 16;
    if (looping_.empty() || (!others_run() && ++idle_rounds_ > patience)) return false;
    for (const index_t number : looping_) wake(number);
    looping_.clear();
    return true;
  }

  /// Those of block 0, then those of block 1, and so on.
  std::vector<thread_context>& threads() { return threads_; }
  /// The first thread of a block of the cluster.
  thread_context& first_of(index_t block) { return threads_[std::size_t(block * block_size_)]; }
  /// Threads of a block.
  index_t block_size() const { return block_size_; }
  /// Blocks of the cluster.
  index_t blocks() const { return index_t(threads_.size()) / block_size_; }
  /// Where each thread waits, by its number in the cluster.
  const std::vector<waiting_site>& waiting_sites() const { return waits_at_; }
  /// Checker of a block's LDS; nullptr, as order(), if accesses are not checked.
  lds_checker* checker(index_t block) { return checkers_.empty() ? nullptr : &checkers_[std::size_t(block)]; }
  /// Happens-before of the cluster's accesses; nullptr if they are not checked.
  access_order* order() { return checkers_.empty() ? nullptr : &order_; }
  /// The source line of a number that check_lds_access() has returned.
  call_site site(std::size_t number) const { return sites_[number]; }

  unsigned check_lds_access(thread_context& self, lds_touch how, index_t address, index_t bytes,
                            call_site where) override {
    const unsigned site = checkers_[std::size_t(self.rank)].access(self, how, address, bytes, where);
    if (how <= lds_touch::atomic_update)
      self.recent.add({std::uint32_t(address), order_.now(), std::uint16_t(site), std::uint8_t(bytes), how});
    return site;
  }
  void check_global_access(const thread_context& self, index_t agent, global_touch how, const char* data,
                           long_index_t bytes, call_site where, std::uint32_t store) override {
    if (memory_.has_seen_enough()) {
      threads_[std::size_t(self.number)].checks_memory = false;
      return;
    }
    memory_.check_inside(self, name(how), data, bytes, where);
    if (checkers_.empty()) return;
    const access_record mine{number_, store != 0 ? store : order_.now(), std::uint16_t(agent), 0};
    const bool by_async_proxy = store != 0 || agent >= order_.num_threads();
    if (self.may_run_early)
      threads_[std::size_t(self.number)].may_run_early =
          memory_.check_earlier_kernels(self, how, data, bytes, where, accessing(self, by_async_proxy));
    memory_.access(self, how, data, bytes, mine, where, accessing(self, by_async_proxy));
  }
  void wait_for_previous_kernel(const thread_context& self) override {
    if (self.checks_memory && order()) memory_.order().wait_for_previous_kernel(number_, self.number, order_.now());
  }
  void guarantee_same_bits() override { memory_.guarantee_same_bits(); }
  void guarantee_reset(const thread_context& self, const unsigned* counter, call_site where) override {
    memory_.guarantee_reset(self, launch_, counter, where);
  }
  std::uint32_t begin_bulk_store(const thread_context& self) override {
    return self.checks_memory && order() ? memory_.order().begin_store(number_, order_.now()) : 0;
  }
  void end_bulk_store(std::uint32_t store) override {
    if (store != 0) memory_.order().end_store(number_, store, order_.now());
  }
  /// Stores that no release has followed yet; other ranks see them when nothing else can happen.
  bool has_late_stores() const { return !late_stores_.empty(); }
  void store_late(void* to, const array<float, 4>& values) override {
    late_stores_.push_back({to, values});
    if (!has_ranks_) make_late_stores();
  }
  void load_late(const void* from) override {
    if (std::ranges::any_of(late_stores_, [=](const auto& s) { return s.first == from; })) make_late_stores();
  }
  /// Performs stores that other ranks may see late.
  void make_late_stores() {
    for (const auto& [to, values] : late_stores_) __builtin_memcpy(to, &values, sizeof(values));
    late_stores_.clear();
  }
  void release(const thread_context& self, const unsigned* counter, memory_scope scope) override {
    make_late_stores();
    if (!self.checks_memory || !order()) return;
    track_pairs();
    memory_.order().release(accessing(self, false), counter, order_.known_by(self.number), scope);
  }
  /// The thread has read a counter in global memory: what was released to it happens before the next access. Throws if
  /// the scopes leave one of the GPUs out.
  void acquire(const thread_context& self, const unsigned* counter, memory_scope scope, call_site where) override {
    if (!self.checks_memory || !order() || memory_.order().acquire(number_, self.number, order_.now(), counter, scope))
      return;
    refuse(self, "waits for a counter in global memory", where,
           std::string(" that another GPU has changed") +
               (scope == memory_scope::gpu ? ": wait_for_count() acquires from its own GPU only, use wait_for_flag()"
                                           : " by add_release(), which releases to its own GPU only: use set_flag() or "
                                             "add_to_flag()"));
  }
  /// A wait for a flag of another GPU has timed out.
  void stop_comparing() {
    if (has_ranks_) memory_.stop_comparing();
  }
  /// TMA sees what happens before in global memory.
  void fence_async_proxy_global(const thread_context& self) {
    if (!order()) return;
    order_.fence_async_proxy_in_memory(self.number);
    if (self.checks_memory) memory_.order().fence_async_proxy(accessing(self, true), order_.now());
  }
  /// From now on, threads may order their accesses pair by pair, without a barrier of the block.
  void track_pairs() {
    if (checkers_.empty() || order_.is_used()) return;
    order_.use([this](index_t thread, index_t other) {
      const bool same_block = thread / block_size_ == other / block_size_;
      return same_block ? checkers_[std::size_t(thread / block_size_)].known_before(thread, other) : 0;
    });
  }

 private:
  static constexpr index_t lds_alignment = 1024;
  static constexpr std::uint16_t poison = 0xffa5;  // NaN as half, as bfloat16 and, twice, as float

  accessing_thread accessing(const thread_context& self, bool by_async_proxy) const {
    return {number_, self.number, by_async_proxy, checkers_[std::size_t(self.rank)], order_};
  }

  struct free_lds {
    void operator()(char* p) const { ::operator delete(p, std::align_val_t{std::size_t(lds_alignment)}); }
  };

  index_t block_size_, lds_stride_, lds_total_;
  worker_progress& progress_;
  global_memory& memory_;
  bool has_ranks_;
  std::uint32_t launch_;
  std::vector<std::pair<void*, array<float, 4>>> late_stores_;
  std::uint32_t number_ = 0;  // of the running cluster in memory_
  std::unique_ptr<char, free_lds> lds_;
  access_order order_;
  call_sites sites_;
  std::vector<lds_checker> checkers_;  // one per block; none if LDS accesses are not checked
  std::vector<thread_context> threads_;
  std::vector<waiting_site> waits_at_;  // by thread
  std::vector<index_t> looping_;        // threads that wait for a value in global memory
  index_t idle_rounds_ = 0;             // in which only those have run
  fiber_group fibers_;                  // last: its destructor unwinds the kernels that have not ended
};

}  // namespace tilewright::emulator
