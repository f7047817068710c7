// SPDX-License-Identifier: MIT
// The state of barriers in LDS (mbarrier), named barriers and the barrier of a cluster.
#pragma once

#include <tilewright/machine/emulator/cluster.hpp>
#include <tilewright/machine/emulator/lds/lds_checker.hpp>
#include <tilewright/machine/emulator/threads/async_copies.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace tilewright::emulator {

/// Barriers in the LDS of a cluster's blocks.
class barriers_in_lds {
 public:
  /// mbarriers in the LDS of these threads' blocks.
  explicit barriers_in_lds(cluster& threads) : threads_(threads) {}

  /// Forgets all barriers: LDS is new.
  void begin_cluster() { barriers_.clear(); }

  /// mbarrier.init at a byte address of the thread's block; throws if it is not aligned to 8 bytes or outside of LDS.
  void init(thread_context& self, index_t address, index_t arrivals, call_site where) {
    check_address(self, address, "initialises", where);
    if (arrivals < 1) refuse(self, "initialises a barrier in LDS", where, " for no arrivals");
    barrier& b = barriers_[{self.rank, address}];
    if (b.arrivals > 0)
      refuse(self, "initialises a barrier in LDS", where,
             " that is in use: call invalidate() first, once no thread uses it any more");
    b = {.arrivals = arrivals, .missing = arrivals};
    if (access_order* const order = threads_.order()) {
      check_access(self, self.rank, lds_touch::write, address, where);
      threads_.checker(self.rank)->add_barrier(address, self.site_of(where));
      b.agent = order->new_agent();
      b.initialised_by = self.number;
      b.initialised_at = order->now();
    }
  }

  /// mbarrier.inval; throws if there is no barrier or threads wait there.
  void invalidate(thread_context& self, index_t address, call_site where) {
    if (!find(self, self.rank, address, "invalidates", where).waiting.empty())
      refuse(self, "invalidates a barrier in LDS", where, " that others wait at");
    if (lds_checker* const checker = threads_.checker(self.rank)) {
      checker->remove_barrier(address);
      check_access(self, self.rank, lds_touch::write, address, where);
    }
    barriers_.erase({self.rank, address});
  }

  /// mbarrier.arrive, with the bytes that copies will add (expect_tx; 0: none); throws if there is no barrier or a
  /// phase has more arrivals than it expects. `copy`: see hopper_services.
  void arrive(thread_context& self, index_t block, index_t address, index_t bytes_to_come, call_site copy,
              call_site where) {
    barrier& b = find(self, block, address, "arrives at", where);
    if (b.missing == 0)
      refuse(self, "arrives at a barrier in LDS", where,
             " more often in a phase than the " + std::to_string(b.arrivals) + " times that it expects");
    check_access(self, block, lds_touch::barrier_update, address, where);
    if (access_order* const order = threads_.order()) order->release(self.number, b.known);
    if (copy.file != nullptr) b.copies = {b.phase, &self, copy};
    --b.missing;
    b.bytes += bytes_to_come;
    end_phase(b);
  }

  /// Returns when the phase of this parity has ended; throws if the barrier is a phase further by then.
  void wait(thread_context& self, index_t address, unsigned parity, call_site where) {
    barrier& b = find(self, self.rank, address, "waits at", where);
    check_access(self, self.rank, lds_touch::barrier_update, address, where);
    if (threads_.order() != nullptr) note_wait(b, self, parity, where);
    if (is_over(b, parity)) {
      if (access_order* const order = threads_.order()) order->acquire(self.number, b.known_at_end);
      b.copies.see(b.phase);
      return;
    }
    const unsigned phase = b.phase;
    b.waiting.push_back(self.number);
    threads_.wait(self, meeting::barrier_in_lds, where);
    b.copies.see(phase + 1);
    if (b.phase != phase + 1)
      refuse(self, "waits at a barrier in LDS", where,
             " that is a phase further before the thread has seen the end of the one it waits for");
  }

  /// All threads have reached the end of the kernel.
  void end_cluster() const {
    for (const auto& [site, b] : barriers_) {
      if (b.copies.thread != nullptr) refuse_copies_at_end(*b.copies.thread, b.copies.where);
    }
  }

  /// The agent for copies that count their bytes at this barrier.
  index_t agent(index_t block, index_t address) const { return barriers_.at({block, address}).agent; }

  /// Bytes of a copy have arrived, or those that a thread has stored, whose earlier accesses are then known.
  void complete(index_t block, index_t address, index_t bytes, const thread_context* storing = nullptr) {
    barrier& b = barriers_.at({block, address});
    if (access_order* const order = threads_.order())
      storing ? order->release(storing->number, b.known) : order->release_agent(b.agent, b.known);
    b.bytes -= bytes;
    end_phase(b);
  }

  /// Throws if a copy cannot count its bytes there.
  void check(const thread_context& self, index_t block, index_t address, call_site where) {
    const barrier& b = find(self, block, address, "copies with", where);
    const access_order* const order = threads_.order();
    if (order == nullptr) return;
    if (!order->has_published(b.initialised_by, b.initialised_at))
      refuse(self, "copies with a barrier in LDS", where,
             " after whose initialisation a fence_barrier_init() is missing");
    if (b.initialised_by == self.number || order->is_over(self.number, b.initialised_by, b.initialised_at)) return;
    refuse(self, "copies with a barrier in LDS", where,
           block == self.rank ? std::string(" that another thread initialises, with no barrier between")
                              : " of block " + std::to_string(block) +
                                    " of its cluster, which may not have initialised it: a cluster_sync() is missing");
  }

  /// Whether the thread waits for bytes of copies.
  bool lacks_bytes(const thread_context& self) const {
    return std::ranges::any_of(barriers_, [&](const auto& b) {
      return b.second.bytes != 0 && std::ranges::find(b.second.waiting, self.number) != b.second.waiting.end();
    });
  }

  /// What is missing at the barrier that a thread waits at.
  std::string describe(const thread_context& self) const {
    for (const auto& [site, b] : barriers_) {
      for (const index_t number : b.waiting) {
        if (number != self.number) continue;
        std::string text = "where " + std::to_string(b.missing) + " of " + std::to_string(b.arrivals) + " arrivals ";
        if (b.bytes > 0) text += "and " + std::to_string(b.bytes) + " bytes ";
        text += "are missing";
        return b.bytes >= 0 ? text
                            : text + ", and " + std::to_string(-b.bytes) + " bytes came that no thread has announced";
      }
    }
    return "";
  }

 private:
  /// Of the first lane of a wave that waits for the end of a phase.
  struct latest_wait {
    unsigned phase = ~1u;
    std::uint32_t time = 0;
    const thread_context* thread = nullptr;
    call_site where{nullptr, 0};
  };
  /// The latest arrival after copies of its thread, unless a thread has waited for the end of its phase.
  struct copies_of_threads {
    unsigned phase = 0;
    const thread_context* thread = nullptr;
    call_site where{nullptr, 0};
    void see(unsigned ended_phases) {
      if (phase < ended_phases) thread = nullptr;
    }
  };
  struct barrier {
    index_t arrivals = 0, missing = 0;
    index_t bytes = 0;  // outstanding in this phase
    unsigned phase = 0;
    std::vector<index_t> waiting{};
    copies_of_threads copies{};
    // If accesses are checked: clocks of the threads that have arrived, and their union at the end of a phase.
    known_accesses known{}, known_at_end{};
    index_t agent = -1;
    index_t initialised_by = 0;
    std::uint32_t initialised_at = 0;
    std::uint32_t ended_at = 0, ended_before = 0;  // times at which the last phase ended, and the one before it
    std::map<index_t, latest_wait> waits{};        // by wave and parity: for the end of `phase`
  };

  void check_access(const thread_context& self, index_t block, lds_touch how, index_t address, call_site where) {
    if (lds_checker* const checker = threads_.checker(block))
      checker->access(self, how, address, 8, self.site_of(where));
  }

  static bool is_over(const barrier& b, unsigned parity) { return (b.phase & 1) != (parity & 1); }

  static void check_address(const thread_context& self, index_t address, const char* does, call_site where) {
    if (address >= 0 && address + 8 <= self.lds_bytes && address % 8 == 0) return;
    refuse(
        self, std::string(does) + " a barrier in LDS", where,
        " at byte " + std::to_string(address) +
            (address % 8 != 0 ? ", which is not a multiple of 8"
                              : ", outside of the " + std::to_string(self.lds_bytes) + " bytes that it has allocated"));
  }

  /// Parities tell two phases apart, so a thread must know that all but the last phase have ended, and of the last one
  /// unless it waits for that.
  void note_wait(barrier& b, const thread_context& self, unsigned parity, call_site where) {
    access_order& order = *threads_.order();
    const bool knows_last = b.phase == 0 || order.is_over(self.number, b.agent, b.ended_at),
               knows_others = knows_last || b.phase == 1 || order.is_over(self.number, b.agent, b.ended_before);
    if (!knows_others || (!knows_last && !is_over(b, parity)))
      refuse(self, "waits at a barrier in LDS", where,
             " for a phase of parity " + std::to_string(parity & 1) + " when " + std::to_string(b.phase) +
                 " phases have ended, of which it has not seen all: it may take one for another");
    const unsigned phase = is_over(b, parity) ? b.phase - 1 : b.phase;
    order.acquire_agent(self.number, order.agent_of_wave(self.number));
    if (latest_wait& latest = b.waits[2 * self.wave_number + index_t(phase & 1)]; latest.phase != phase)
      latest = {phase, order.now(), &self, self.site_of(where)};
  }
  /// A wave that has waited for the end of the phase before must have done so before this phase ends, in any order of
  /// the threads: else it may find that of another phase of the same parity.
  void check_waits(const barrier& b) const {
    for (const auto& [key, wait] : b.waits) {
      if (wait.phase != b.phase - 1) continue;
      const index_t agent = threads_.order()->agent_of_wave(wait.thread->number);
      if (known_accesses::at(b.known.over, agent) >= wait.time) continue;
      refuse(*wait.thread, "may wait at a barrier in LDS", wait.where,
             " too late: nothing orders the end of the next phase after this wait, so its wave may take one phase for "
             "another");
    }
  }

  barrier& find(const thread_context& self, index_t block, index_t address, const char* does, call_site where) {
    const auto found = barriers_.find({block, address});
    if (found == barriers_.end())
      refuse(self, std::string(does) + " a barrier in LDS", where,
             " at byte " + std::to_string(address) +
                 (block == self.rank ? "" : " of block " + std::to_string(block) + " of its cluster") +
                 ", where no thread has initialised one");
    return found->second;
  }

  void end_phase(barrier& b) {
    if (b.missing > 0 || b.bytes != 0) return;
    access_order* const order = threads_.order();
    if (order != nullptr) {
      check_waits(b);
      b.ended_before = std::exchange(b.ended_at, order->now());
      order->release_agent(b.agent, b.known);
      b.known_at_end = b.known;
    }
    ++b.phase;
    b.missing = b.arrivals;
    for (const index_t number : b.waiting) {
      if (order != nullptr) order->acquire(number, b.known_at_end);
      threads_.wake(number);
    }
    b.waiting.clear();
  }

  cluster& threads_;
  std::map<std::pair<index_t, index_t>, barrier> barriers_;  // by block of the cluster and address
};

/// Named barriers of a cluster's blocks, and the barrier of the cluster.
class counting_barriers {
 public:
  /// Named barriers of blocks, and the barrier of the cluster.
  explicit counting_barriers(cluster& threads) : threads_(threads) {}

  /// All barriers are free.
  void begin_cluster() {
    named_.clear();
    cluster_ = {};
  }

  /// bar.sync (`waits`) or bar.arrive: `id` 1 to 15, `threads` a multiple of the wave size, else it throws.
  void named(thread_context& self, index_t id, index_t threads, bool waits, call_site where) {
    if (id < 1 || id > 15 || threads % self.target->wave_size != 0) {
      refuse(self, "asks for the named barrier " + std::to_string(id) + " of " + std::to_string(threads) + " threads",
             where, "; there are 1 to 15, of whole waves");
    }
    barrier& b = named_[{self.rank, id}];
    if (b.arrived > 0 && b.threads != threads)
      refuse(self, "comes to the named barrier " + std::to_string(id), where,
             " of " + std::to_string(threads) + " threads, where others wait for " + std::to_string(b.threads));
    b.threads = threads;
    if (access_order* const order = threads_.order()) {
      check_phase(b, self, id, where);
      order->release(self.number, b.known);
    }
    come(b, self, waits, meeting::named_barrier, where);
  }

  /// barrier.cluster.arrive and .wait of all threads of the cluster.
  void cluster_sync(thread_context& self, call_site where) {
    cluster_.threads = index_t(threads_.threads().size());
    if (cluster_.arrived + 1 == cluster_.threads && threads_.order() != nullptr) threads_.order()->cluster_sync();
    come(cluster_, self, true, meeting::cluster_barrier, where);
  }

  /// Which barrier this waiting thread waits at and how many threads are missing, for error messages.
  std::string describe(const thread_context& self) const {
    const auto waits_there = [&](const barrier& b) {
      return std::find(b.waiting.begin(), b.waiting.end(), self.number) != b.waiting.end();
    };
    const auto text = [](const barrier& b) {
      return "where " + std::to_string(b.arrived) + " of " + std::to_string(b.threads) + " threads have come";
    };
    if (waits_there(cluster_)) return text(cluster_);
    for (const auto& [site, b] : named_) {
      if (waits_there(b)) return text(b);
    }
    return "";
  }

 private:
  struct barrier {
    index_t threads = 0, arrived = 0;
    std::vector<index_t> waiting{};
    known_accesses known{};  // of the threads that have arrived; the cluster's barrier orders less
    unsigned phase = 1;
    std::vector<unsigned> latest{};  // by thread: the phase of its latest arrival
    index_t agent = -1;              // that ends phases; -1: none has ended
    std::uint32_t ended_at = 0;
  };

  /// Arrivals of a phase must follow the end of the one before in any order of the threads: else they count in that.
  void check_phase(barrier& b, const thread_context& self, index_t id, call_site where) {
    b.latest.resize(threads_.threads().size());
    unsigned& latest = b.latest[std::size_t(self.number)];
    if (latest == b.phase || (b.agent >= 0 && !threads_.order()->is_over(self.number, b.agent, b.ended_at)))
      refuse(self, "comes to the named barrier " + std::to_string(id), where,
             " when nothing orders that after the end of its last phase, in which it may then be counted");
    latest = b.phase;
  }

  void come(barrier& b, thread_context& self, bool waits, meeting at, call_site where) {
    if (++b.arrived == b.threads) {
      b.arrived = 0;
      ++b.phase;
      if (access_order* const order = threads_.order()) {
        if (b.agent < 0) b.agent = order->new_agent();
        b.ended_at = order->now();
        order->release_agent(b.agent, b.known);
        for (const index_t number : b.waiting) order->acquire(number, b.known);
        if (waits) order->acquire(self.number, b.known);
        b.known = {};
      }
      for (const index_t number : b.waiting) threads_.wake(number);
      b.waiting.clear();
    } else if (waits) {
      b.waiting.push_back(self.number);
      threads_.wait(self, at, where);
    }
  }

  cluster& threads_;
  std::map<std::pair<index_t, index_t>, barrier> named_;  // by block of the cluster and number
  barrier cluster_;
};

}  // namespace tilewright::emulator
