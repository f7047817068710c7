// SPDX-License-Identifier: MIT
// Hopper's barriers in LDS, TMA copies and warpgroups. Everything asynchronous completes as late as it may.
#pragma once

#include <tilewright/machine/emulator/global/global_history.hpp>
#include <tilewright/machine/emulator/hopper/barriers_in_lds.hpp>
#include <tilewright/machine/emulator/hopper/bulk_copies.hpp>
#include <tilewright/machine/emulator/hopper/warpgroups.hpp>

#include <algorithm>
#include <thread>

namespace tilewright::emulator {

class hopper_machine final : public hopper_services, private pending_events {
 public:
  /// For the threads of one cluster, which must outlive it.
  explicit hopper_machine(cluster& threads)
      : threads_(threads), barriers_(threads), counting_barriers_(threads), warpgroups_(threads), stores_(threads) {
    threads_.set_events(*this);
  }

  /// Forgets everything of the cluster before.
  void begin_cluster() {
    barriers_.begin_cluster();
    counting_barriers_.begin_cluster();
    warpgroups_.begin_cluster();
    loads_.clear();
    stores_.begin_cluster();
    waiting_for_counts_.clear();
  }

  /// All threads wait: completes something that some of them wait for. `others_run()` says whether blocks with lower
  /// numbers, which may still count in global memory, are running elsewhere. False if the threads wait forever.
  template <class OthersRun>
  bool idle(OthersRun others_run) {
    for (;; std::this_thread::yield()) {
      const bool others = !waiting_for_counts_.empty() && others_run(a_flag_has_come());
      look_at_counts();
      while (!threads_.any_ready() && !loads_.empty()) land(choose_load());
      if (!threads_.any_ready() && !others && !end_wait_for_a_flag()) return false;
      if (!threads_.any_ready()) continue;
      others_run.resume();
      return true;
    }
  }

  /// A thread reaches the end of the kernel.
  void leave(const thread_context& self) {
    stores_.leave(self);
    warpgroups_.leave(self);
  }

  /// All threads have reached it.
  void end_cluster() const {
    barriers_.end_cluster();
    if (!loads_.empty())
      refuse(threads_.threads()[std::size_t(loads_.front().thread)],
             "leaves the kernel before a box that it loads (" + to_string(loads_.front().where) + ") has come");
  }

  /// Details of why a thread waits forever.
  std::string describe(const thread_context& self, meeting at) const {
    if (at == meeting::barrier_in_lds) return barriers_.describe(self);
    if (at == meeting::counter) return "which is " + describe_count(self) + " when all blocks before have ended";
    return counting_barriers_.describe(self);
  }

  /// Whether the thread waits for bytes of copies.
  bool lacks_bytes(const thread_context& self) const { return barriers_.lacks_bytes(self); }

  /// wgmma instructions so far, counted as four waves each.
  long_index_t matrix_instructions() const { return warpgroups_.instructions_of_waves(); }

 private:
  struct load {
    tma_box box;
    index_t barrier;
    index_t block;  // of the cluster, whose LDS it fills
    index_t thread;
    call_site where;
  };
  struct wait_for_a_count {
    index_t thread;
    const unsigned* counter;
    unsigned n;
    bool is_flag;  // which may pass n, and which another rank writes
    bool is_over() const {
      const unsigned now = __atomic_load_n(counter, __ATOMIC_ACQUIRE);
      return is_flag ? int(now - n) >= 0 : now == n;
    }
  };

  void init_barrier(thread_context& self, index_t address, index_t arrivals, call_site where) override {
    barriers_.init(self, address, arrivals, where);
  }
  void invalidate_barrier(thread_context& self, index_t address, call_site where) override {
    barriers_.invalidate(self, address, where);
  }
  void arrive(thread_context& self, index_t block, index_t address, index_t bytes_to_come, call_site copy,
              call_site where) override {
    check_block(self, block, where);
    barriers_.arrive(self, block, address, bytes_to_come, copy, where);
  }
  void wait(thread_context& self, index_t address, unsigned parity, call_site where) override {
    barriers_.wait(self, address, parity, where);
  }
  void fence_barrier_init(thread_context& self) override {
    if (access_order* const order = threads_.order()) order->fence_barrier_init(self.number);
  }
  void fence_async_proxy(thread_context& self) override {
    if (access_order* const order = threads_.order()) order->fence_async_proxy(self.number);
  }
  void fence_async_proxy_global(thread_context& self) override { threads_.fence_async_proxy_global(self); }
  void cluster_sync(thread_context& self, call_site where) override { counting_barriers_.cluster_sync(self, where); }
  void store_in(thread_context& self, index_t block, index_t to, unsigned bits, index_t done,
                call_site where) override {
    check_block(self, block, where);
    if (to < 0 || to % 4 != 0 || to + 4 > self.lds_bytes)
      refuse(self, "stores 4 bytes to byte " + std::to_string(to), where,
             " of another block's LDS, which must be a multiple of 4 inside of the allocation");
    check_started(self, block, where);
    if (lds_checker* const c = threads_.checker(block)) c->access(self, lds_touch::write, to, 4, where);
    __builtin_memcpy(threads_.first_of(block).lds + to, &bits, 4);
    if (done >= 0) barriers_.check(self, block, done, where), barriers_.complete(block, done, 4, &self);
  }
  void named_barrier(thread_context& self, index_t id, index_t threads, bool waits, call_site where) override {
    counting_barriers_.named(self, id, threads, waits, where);
  }

  void wait_for_count(thread_context& self, const unsigned* counter, unsigned n, call_site where) override {
    (void)wait_until({self.number, counter, n, false}, self, where);
  }
  bool wait_for_flag(thread_context& self, const unsigned* flag, unsigned n, call_site where) override {
    return wait_until({self.number, flag, n, true}, self, where);
  }
  bool wait_until(const wait_for_a_count& w, thread_context& self, call_site where) {
    threads_.note_wait_for_blocks();
    if (w.is_flag || !w.is_over()) {
      waiting_for_counts_.push_back(w);
      threads_.wait(self, meeting::counter, where);
    }
    threads_.acquire(self, w.counter, w.is_flag ? memory_scope::system : memory_scope::gpu, where);
    if (w.is_flag) threads_.fence_async_proxy_global(self);
    if (w.is_flag && !w.is_over()) threads_.stop_comparing();
    return w.is_over();
  }

  void tma_load(thread_context& self, const tma_box& box, index_t barrier, unsigned blocks, call_site where) override {
    check_box(self, box, where);
    if (blocks == 0) refuse(self, "copies a box", where, " to no block");
    for (index_t block = 0; blocks >> block != 0; ++block) {
      if ((blocks >> block & 1) == 0) continue;
      check_block(self, block, where);
      barriers_.check(self, block, barrier, where);
      check_memory(self, barriers_.agent(block, barrier), box, global_touch::copy, where);
      if (lds_checker* const checker = threads_.checker(block))
        checker->begin_bulk_write(self, box.lds, bytes_in_lds(request_of(*box.map)), self.site_of(where));
      loads_.push_back({box, barrier, block, self.number, self.site_of(where)});
    }
  }

  void tma_store(thread_context& self, const tma_box& box, call_site where) override {
    check_box(self, box, where);
    const std::uint32_t number = stores_.start(
        self, box.lds, bytes_in_lds(request_of(*box.map)), [box](const char* from) { box_from_lds(box, from); }, where);
    check_memory(self, self.number, box, global_touch::write, where, number);
  }
  void tma_reduce_add(thread_context& self, float* to, index_t lds, index_t bytes, call_site where) override {
    if ((lds | bytes | index_t(reinterpret_cast<std::uintptr_t>(to) % 16)) % 16 != 0 || bytes <= 0)
      refuse(self, "adds " + std::to_string(bytes) + " bytes", where,
             "; size and both addresses must be multiples of 16 bytes");
    self.check_address(arch::lds_op::read_b128, lds + bytes - 16, 16, where);
    const std::uint32_t number =
        stores_.start(self, lds, bytes, [to, bytes](const char* from) { add_floats(to, from, bytes); }, where);
    if (self.checks_memory)
      self.memory->check_global_access(self, self.number, global_touch::float_addition,
                                       reinterpret_cast<const char*>(to), bytes, where, number);
  }
  void tma_store_commit(thread_context& self) override { stores_.commit(self); }
  void tma_store_wait(thread_context& self, index_t pending, call_site) override {
    stores_.wait_until_read(self, pending);
  }
  void write_bulk_stores(const thread_context& self, index_t pending) override {
    stores_.wait_until_written(self, pending);
  }

  void set_registers(thread_context& self, index_t registers, call_site where) override {
    warpgroups_.set_registers(self, registers, where);
  }
  void wgmma_fence(thread_context& self) override { warpgroups_.fence(self); }
  void wgmma(thread_context& self, float* c, const void* a, const wgmma_operands& operands, call_site where) override {
    warpgroups_.start(self, c, a, operands, where);
  }
  void wgmma_commit(thread_context& self) override { warpgroups_.commit(self); }
  void wgmma_wait(thread_context& self, index_t pending, call_site where) override {
    warpgroups_.wait(self, pending, where);
  }

  static void check_memory(const thread_context& self, index_t agent, const tma_box& box, global_touch how,
                           call_site where, std::uint32_t store = 0) {
    if (!self.checks_memory) return;
    for_each_piece(box, [&](index_t, const char* data, index_t bytes, bool inside) {
      if (inside) self.memory->check_global_access(self, agent, how, data, bytes, where, store);
    });
  }

  void check_block(const thread_context& self, index_t block, call_site where) const {
    if (block < 0 || block >= threads_.blocks())
      refuse(self, "names block " + std::to_string(block), where,
             " of a cluster of " + std::to_string(threads_.blocks()));
  }

  /// Throws unless a barrier of the cluster, or something that a thread of the block has done, happens before.
  void check_started(const thread_context& self, index_t block, call_site where) const {
    const access_order* const order = threads_.order();
    if (order == nullptr || block == self.rank || order->latest_cluster_sync() > order->begin()) return;
    const index_t threads = order->num_threads() / threads_.blocks();
    for (index_t t = block * threads; t < (block + 1) * threads; ++t)
      if (order->is_over(self.number, t, order->begin())) return;
    refuse(self, "stores to LDS", where,
           " of block " + std::to_string(block) +
               " of its cluster, which may not have started: a cluster_sync() is missing");
  }

  index_t num_pending() const override { return index_t(loads_.size()); }
  void complete(index_t number) override { land(std::size_t(number)); }

  /// Nothing orders copies. The one that started last arrives first, so that no kernel relies on another order.
  std::size_t choose_load() const {
    schedule_choices* const choices = threads_.choices();
    const auto count = index_t(loads_.size());
    const index_t chosen = count - 1 - (choices == nullptr || count == 1 ? 0 : choices->choose(count));
    if (choices != nullptr) choices->note(-1 - chosen);
    return std::size_t(chosen);
  }
  void land(std::size_t number) {
    const load l = loads_[number];
    loads_.erase(loads_.begin() + std::ptrdiff_t(number));
    const index_t bytes = bytes_in_lds(request_of(*l.box.map));
    box_to_lds(l.box, threads_.first_of(l.block).lds);
    if (lds_checker* const checker = threads_.checker(l.block))
      checker->end_bulk_write(barriers_.agent(l.block, l.barrier), l.box.lds, bytes);
    barriers_.complete(l.block, l.barrier, request_of(*l.box.map).copied_bytes());
  }

  void look_at_counts() {
    std::erase_if(waiting_for_counts_, [&](const wait_for_a_count& w) {
      if (w.is_flag || !w.is_over()) return false;
      threads_.wake(w.thread);
      return true;
    });
  }

  bool a_flag_has_come() const {
    return std::ranges::any_of(waiting_for_counts_, [](const auto& w) { return w.is_flag && w.is_over(); });
  }

  /// Nothing else can happen: a flag that has come is noticed, as late as it may be; if there is none, the time of a
  /// wait is over.
  bool end_wait_for_a_flag() {
    const bool come = a_flag_has_come();
    const auto one = std::find_if(waiting_for_counts_.begin(), waiting_for_counts_.end(),
                                  [&](const wait_for_a_count& w) { return w.is_flag && w.is_over() == come; });
    if (one == waiting_for_counts_.end()) return false;
    const wait_for_a_count ended = *one;
    std::erase_if(waiting_for_counts_, [&](const wait_for_a_count& w) {
      if (!w.is_flag || w.counter != ended.counter || w.n != ended.n) return false;
      threads_.wake(w.thread);
      return true;
    });
    return true;
  }

  std::string describe_count(const thread_context& self) const {
    for (const wait_for_a_count& w : waiting_for_counts_) {
      if (w.thread == self.number)
        return std::to_string(__atomic_load_n(w.counter, __ATOMIC_ACQUIRE)) + " instead of " + std::to_string(w.n);
    }
    return "";
  }

  cluster& threads_;
  barriers_in_lds barriers_;
  counting_barriers counting_barriers_;
  warpgroups warpgroups_;
  std::vector<load> loads_;
  bulk_stores stores_;
  std::vector<wait_for_a_count> waiting_for_counts_;
};

}  // namespace tilewright::emulator
