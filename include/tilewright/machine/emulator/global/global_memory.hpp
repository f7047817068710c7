// SPDX-License-Identifier: MIT
// Global memory of a launch: refuses accesses outside of what is registered, and races between threads of any blocks.
#pragma once

#include <tilewright/core/base/index.hpp>
#include <tilewright/machine/emulator/global/allocation_bounds.hpp>
#include <tilewright/machine/emulator/global/cluster_order.hpp>
#include <tilewright/machine/emulator/threads/refuse.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tilewright::emulator {

/// An allocation that kernels of a launch may access.
struct memory_range {
  const void* begin = nullptr;  ///< first byte
  long_index_t bytes = 0;       ///< length
};

/// A mutex that is held for some nanoseconds.
class spin_lock {
 public:
  /// Waits until the lock is free.
  void lock() {
    while (taken_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  /// Only by the thread that has locked it.
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

/// Shared by the workers of a launch. Without ranges, any memory may be accessed, and the first accesses alone are
/// compared, so that large launches cost little.
class global_memory {
 public:
  /// Of kernels that may still run, from the previous one on.
  using earlier_kernels = std::vector<std::shared_ptr<global_memory>>;

  /// No `ranges`: any memory may be accessed. `finds_races`: whether conflicting accesses of blocks are faults.
  global_memory(std::vector<memory_range> ranges, bool finds_races, earlier_kernels earlier = {})
      : ranges_(std::move(ranges)), finds_races_(finds_races), earlier_(std::move(earlier)) {}
  /// Of all launches of several GPUs, which are compared with each other.
  global_memory() : global_memory({}, true) {}

  /// A launch of the GPU that this thread of the CPU stands for; its number in order().
  std::uint32_t begin_launch() {
    unregistered_left_ = max_unregistered;
    return order_.begin_launch(std::this_thread::get_id());
  }

  /// The kernels that may run when one starts early after `launch`, whose memory this is: that one, and some before it
  /// if it has not waited for them.
  static earlier_kernels before_next(const std::shared_ptr<global_memory>& launch) {
    constexpr std::size_t max_kernels = 4;
    earlier_kernels all = std::exchange(launch->earlier_, {});
    if (launch->order_.waits_for_previous_kernel()) all.clear();
    all.insert(all.begin(), launch);
    all.resize(std::min(all.size(), max_kernels));
    return all;
  }
  /// Whether threads must ask check_earlier_kernels.
  bool has_earlier_kernels() const { return finds_races_ && !earlier_.empty(); }
  /// Throws if the access conflicts with one of a kernel that may still run. False: the thread need not ask again.
  bool check_earlier_kernels(const thread_context& self, global_touch how, const char* data, long_index_t bytes,
                             call_site where, const accessing_thread& by) {
    const bool knows_previous = order_.knows_previous_kernel(by);
    for (std::size_t i = knows_previous ? 1 : 0; i < earlier_.size(); ++i) {
      const std::string found = earlier_[i]->conflict(how, data, bytes);
      if (!found.empty())
        refuse(self, std::string(name(how)) + " global memory", where,
               (i == 0 ? " that the previous kernel" : " that a kernel before the previous one") + found +
                   (i == 0 ? " without a grid_dependency_wait() before"
                           : ", for which the previous one has not called grid_dependency_wait()"));
    }
    return !knows_previous || earlier_.size() > 1;
  }

  /// A kernel promises the same bits in every run: additions of floats to the same bytes must be ordered.
  void guarantee_same_bits() { orders_additions_ = true; }

  /// A kernel promises that the counter is 0 when the launch has ended.
  void guarantee_reset(const thread_context& self, std::uint32_t launch, const unsigned* counter, call_site where) {
    const std::lock_guard lock(resets_mutex_);
    resets_.insert({{launch, counter}, {self.thread_id, self.block, self.site_of(where)}});
  }
  /// Throws if a counter that is to be 0 at the end of the launch is not.
  void check_resets(std::uint32_t launch) {
    const std::lock_guard lock(resets_mutex_);
    for (const auto& [of, promise] : resets_)
      if (const unsigned n = *of.second; of.first == launch && n != 0)
        throw_fault("thread " + std::to_string(promise.thread) + " of block " + to_string(promise.block) +
                    " promises to reset a counter in global memory (" + to_string(promise.where) + "), which is " +
                    std::to_string(n) + " when the kernel has ended: the next launch would begin with it");
  }

  /// Whether accesses are to be reported to this object at all.
  bool is_checked() const { return finds_races_ || !ranges_.empty(); }
  /// True once enough accesses of a launch without ranges have been compared: later ones are not.
  bool has_seen_enough() const {
    return stopped_ || (ranges_.empty() && unregistered_left_.load(std::memory_order_relaxed) <= 0);
  }
  /// A wait for another GPU has timed out: what follows it reports an error, and may race.
  void stop_comparing() { stopped_ = true; }

  /// Throws if there are ranges and the bytes are not inside of one, or if the program is known not to have allocated
  /// them.
  void check_inside(const thread_context& self, const char* does, const char* data, long_index_t bytes,
                    call_site where) const {
    if (!ranges_.empty() && range_of(data, bytes) == nullptr)
      refuse(self, std::string(does) + ' ' + std::to_string(bytes) + " bytes of global memory", where,
             " outside of launch_config::memory: a view is larger than its allocation, or that is not "
             "registered");
    if (known_allocations == nullptr) return;
    const std::string why = known_allocations(data, bytes);
    if (!why.empty())
      refuse(self, std::string(does) + ' ' + std::to_string(bytes) + " bytes of global memory", where,
             why + ": a view is larger than its memory");
  }

  /// Of the clusters of the launch.
  cluster_order& order() { return order_; }

  /// Throws if the access races with an earlier one.
  void access(const thread_context& self, global_touch how, const char* data, long_index_t bytes, access_record mine,
              call_site where, const accessing_thread& by) {
    if (ranges_.empty()) unregistered_left_.fetch_sub(1, std::memory_order_relaxed);
    for_each_page(data, bytes, [&](shard& s, std::uintptr_t begin, std::uintptr_t end) {
      mine.site = s.sites.number_of(self.site_of(where));
      const auto relation = [&](const access_record& before, bool wrote) { return order_.relation(before, wrote, by); };
      const global_history::race race = s.history.access(begin, end, how, mine, orders_additions_, relation);
      if (race.relation != access_relation::ordered) refuse_race(self, how, where, mine, race, s.sites);
    });
  }

 private:
  /// " wrote (file.hpp:12)", "" if there is none.
  std::string conflict(global_touch how, const char* data, long_index_t bytes) {
    std::string text;
    for_each_page(data, bytes, [&](shard& s, std::uintptr_t begin, std::uintptr_t end) {
      const auto found = s.history.find_conflict(begin, end, how);
      if (found.did != nullptr) text = found.did + s.sites.text(found.before.site);
    });
    return text;
  }

  const memory_range* range_of(const char* data, long_index_t bytes) const {
    for (const memory_range& r : ranges_) {
      const auto* const begin = static_cast<const char*>(r.begin);
      if (data >= begin && data + bytes <= begin + r.bytes) return &r;
    }
    return nullptr;
  }

  [[noreturn]] void refuse_race(const thread_context& self, global_touch how, call_site where,
                                const access_record& mine, const global_history::race& race, const call_sites& sites) {
    const auto* const at = reinterpret_cast<const char*>(race.address);
    const memory_range* const range = range_of(at, 1);
    const std::string byte =
        range == nullptr
            ? ""
            : " at byte " + std::to_string(at - static_cast<const char*>(range->begin)) + " of an allocation";
    const cluster_place place = order_.place_of(race.before.cluster);
    const index_t thread = race.before.thread, threads = place.block_size;
    const bool by_copy = thread >= place.threads, same_cluster = race.before.cluster == mine.cluster,
               same_block = same_cluster && (by_copy || thread / threads == self.rank),
               same_gpu = order_.share_gpu(race.before.cluster, mine.cluster);
    block_index block = place.first;
    block.x += thread / threads;
    const std::string who = by_copy      ? "a TMA load"
                            : same_block ? "thread " + std::to_string(thread % threads)
                                         : "thread " + std::to_string(thread % threads) + " of block " +
                                               to_string(block) + (same_gpu ? "" : " of another GPU");
    const std::string there = sites.text(race.before.site);
    const std::string why =
        race.relation == access_relation::in_flight
            ? " that a TMA store of " + who + there +
                  " may not have written yet: tma_store_wait<0>() is missing (tma_store_wait_read waits for its LDS "
                  "only)"
        : race.relation == access_relation::unfenced
            ? " that " + who + race.did + there + " without a fence_async_proxy_global() between"
        : how == global_touch::float_addition && race.did == std::string_view(" updated")
            ? " that " + who + race.did + there +
                  ", in an order that nothing fixes, but the kernel promises the same bits in every run"
            : " that " + who + race.did + there +
                  (same_block ? " with no barrier between"
                   : same_gpu ? ", and nothing orders these blocks"
                              : ", and nothing orders these GPUs");
    refuse(self, std::string(name(how)) + " global memory", where, byte + why);
  }

  /// Each has every num_shards-th page, and numbers of its own for sites.
  static constexpr std::size_t num_shards = 16;
  struct shard {
    spin_lock mutex;
    call_sites sites;
    global_history history;
  };

  /// visit(shard, first byte, end) for the part of the bytes in each page, while its lock is held.
  template <class Visit>
  void for_each_page(const char* data, long_index_t bytes, Visit visit) {
    auto address = reinterpret_cast<std::uintptr_t>(data);
    for (const std::uintptr_t end = address + std::uintptr_t(bytes); address < end;) {
      const std::uintptr_t page = address / global_history::page_bytes;
      const std::uintptr_t part_end = std::min(end, (page + 1) * global_history::page_bytes);
      shard& s = shards_[page % num_shards];
      const std::lock_guard lock(s.mutex);
      visit(s, address, part_end);
      address = part_end;
    }
  }

  std::vector<memory_range> ranges_;
  bool finds_races_;
  static constexpr long_index_t max_unregistered = 1 << 18;
  std::atomic<long_index_t> unregistered_left_ = max_unregistered;  // accesses that are still looked at without ranges
  array<shard, num_shards> shards_{};
  cluster_order order_;
  earlier_kernels earlier_;
  std::atomic<bool> orders_additions_ = false;
  std::atomic<bool> stopped_ = false;
  struct reset_promise {
    index_t thread;
    block_index block;
    call_site where;
  };
  std::mutex resets_mutex_;
  std::map<std::pair<std::uint32_t, const unsigned*>, reset_promise> resets_;  // by launch and counter
};

}  // namespace tilewright::emulator
