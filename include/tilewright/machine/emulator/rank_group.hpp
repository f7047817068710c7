// SPDX-License-Identifier: MIT
// Several GPUs on the CPU emulator: launches that run at the same time and wait for each other's flags, and copies
// between them, which happen as late as they may.
#pragma once

#include <tilewright/machine/emulator/global/global_memory.hpp>
#include <tilewright/machine/emulator/threads/schedule_choices.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tilewright::emulator {

/// Ranks are threads of the CPU. A worker of a launch that names the group (launch_config::ranks) waits for flags as
/// long as anything else can happen; then a flag has not come in time.
class rank_group {
 public:
  /// Which of several pending copies is made first is drawn from the seed.
  explicit rank_group(int ranks, std::uint64_t seed = 1)
      : copies_(std::size_t(ranks)), sleepers_(std::size_t(ranks)), random_(seed) {}

  /// The rank whose launches follow the schedule where an explorer calls run().
  int explored_rank = 0;

  /// Calls f(rank) for all ranks at the same time. Throws what the first of them throws that fails.
  template <class F>
  void run(F f) {
    std::vector<std::exception_ptr> errors(sleepers_.size());
    add(int(sleepers_.size()));
    {
      std::vector<std::jthread> threads;
      for (std::size_t rank = 0; rank < sleepers_.size(); ++rank) {
        threads.emplace_back([&, rank, choices = int(rank) == explored_rank ? explored_run : nullptr] {
          explored_run = choices;
          try {
            f(int(rank));
          } catch (...) {
            errors[rank] = std::current_exception();
          }
          (void)finish_copies(int(rank));
          remove();
        });
      }
    }
    for (const std::exception_ptr& e : errors)
      if (e) std::rethrow_exception(e);
  }

  /// Queues what a copy engine does: in order, when nothing else can happen or the rank waits for it. An action
  /// that returns false has to wait for other ranks.
  void copy_later(int rank, std::function<bool()> action) {
    const std::lock_guard lock(mutex_);
    copies_[std::size_t(rank)].push_back(std::move(action));
  }
  /// The rank's copies are made now. False if they wait for another rank forever.
  bool finish_copies(int rank) {
    queue& q = copies_[std::size_t(rank)];
    for (;; std::this_thread::yield()) {
      {
        const std::lock_guard lock(mutex_);
        while (!q.empty() && act(q)) {
        }
        if (q.empty()) {
          waiting_.erase(&q);
          return true;
        }
      }
      if (!may_change(&q)) return false;
    }
  }
  /// The rank goes on when nothing else can happen: a rank that is late.
  void sleep(int rank) {
    bool awake = false;
    {
      const std::lock_guard lock(mutex_);
      sleepers_[std::size_t(rank)].push_back([&] { return awake = true; });
    }
    for (;; std::this_thread::yield()) {
      (void)may_change(&awake);
      const std::lock_guard lock(mutex_);
      if (!awake) continue;
      waiting_.erase(&awake);
      return;
    }
  }

  // For launches.

  /// Of all launches with checks: accesses of different ranks are compared, too. What one rank frees no other one may
  /// allocate during the group's life.
  const std::shared_ptr<global_memory>& memory() const { return memory_; }

  /// Workers that run, or wait for something that others do.
  void add(int workers) {
    const std::lock_guard lock(mutex_);
    live_ += workers;
  }
  /// A launch has ended. Others that wait for it look again.
  void remove() {
    const std::lock_guard lock(mutex_);
    --live_;
    ++changes_;
  }
  /// A worker waits for memory, which it looks at again after each call: whether it may still change. False once all
  /// others wait, too, and no copy is left. A worker that `can_go_on` does so then; while there is one, others wait.
  bool may_change(const void* worker, bool can_go_on = false) {
    const std::lock_guard lock(mutex_);
    const auto [mine, is_new] = waiting_.try_emplace(worker, state{});
    if (is_new) ++changes_;  // what it has written
    if (mine->second.seen != changes_) {
      mine->second = {changes_};
      return true;
    }
    mine->second = {changes_, true, can_go_on};
    if (int(waiting_.size()) < live_) return true;
    bool any_can_go_on = false;
    for (const auto& [other, s] : waiting_) {
      if (s.seen != changes_ || !s.has_looked) return true;
      any_can_go_on = any_can_go_on || s.can_go_on;
    }
    if (act_on_any(copies_)) return true;
    if (any_can_go_on && !can_go_on) return true;
    if (!any_can_go_on && act_on_any(sleepers_)) return true;
    waiting_.erase(mine);
    return false;
  }
  /// The worker goes on.
  void resume(const void* worker) {
    const std::lock_guard lock(mutex_);
    waiting_.erase(worker);
  }

 private:
  using queue = std::deque<std::function<bool()>>;
  struct state {
    std::uint64_t seen = 0;
    bool has_looked = false, can_go_on = false;
  };

  bool act(queue& q) {
    if (!q.front()()) return false;
    q.pop_front();
    ++changes_;
    return true;
  }
  bool act_on_any(std::vector<queue>& queues) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    // Mostly the same queue again, so that one gets far ahead of the others.
    if (random_ >> 61 == 0) last_ = std::size_t(random_ >> 33);
    for (std::size_t i = 0; i < queues.size(); ++i) {
      queue& q = queues[(last_ + i) % queues.size()];
      if (!q.empty() && act(q)) return true;
    }
    return false;
  }

  std::shared_ptr<global_memory> memory_ = std::make_shared<global_memory>();
  std::mutex mutex_;
  std::vector<queue> copies_, sleepers_;  // by their numbers
  std::uint64_t random_, changes_ = 1;
  std::size_t last_ = 0;
  int live_ = 0;
  std::map<const void*, state> waiting_;
};

/// A worker that waits for blocks with lower numbers, or for other ranks.
template <class LowerBlocksRun>
struct waiting_worker {
  LowerBlocksRun lower_blocks_run;  ///< whether blocks with lower numbers still run in this launch
  /// the launches of other ranks; nullptr: there are none
  rank_group* ranks;   ///< null: there are none
  const void* worker;  ///< identifies the worker in `ranks`

  /// Whether anything may still change what it waits for.
  bool operator()(bool can_go_on = false) const {
    return ranks ? ranks->may_change(worker, can_go_on) : lower_blocks_run();
  }
  /// After sleep(): the worker runs again.
  void resume() const {
    if (ranks) ranks->resume(worker);
  }
  /// Until nothing else can happen.
  void sleep() const { ranks->sleep(0); }
};

}  // namespace tilewright::emulator
