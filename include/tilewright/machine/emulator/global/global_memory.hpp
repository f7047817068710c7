// SPDX-License-Identifier: MIT
// Global memory of a launch: refuses accesses outside of what is registered, and races between threads of any blocks.
#pragma once

#include <tilewright/core/base/index.hpp>
#include <tilewright/machine/emulator/global/global_history.hpp>
#include <tilewright/machine/emulator/threads/refuse.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

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
  /// No `ranges`: any memory may be accessed. `finds_races`: whether conflicting accesses of blocks are faults.
  global_memory(std::vector<memory_range> ranges, bool finds_races, index_t threads_of_cluster)
      : ranges_(std::move(ranges)), finds_races_(finds_races), threads_of_cluster_(threads_of_cluster) {}

  /// Whether accesses are to be reported to this object at all.
  bool is_checked() const { return finds_races_ || !ranges_.empty(); }
  /// True once enough accesses of a launch without ranges have been compared: later ones are not.
  bool has_seen_enough() const { return ranges_.empty() && unregistered_left_.load(std::memory_order_relaxed) <= 0; }

  /// Throws if there are ranges and the bytes are not inside of one.
  void check_inside(const thread_context& self, const char* does, const char* place, long_index_t bytes,
                    call_site where) const {
    if (!ranges_.empty() && range_of(place, bytes) == nullptr)
      refuse(self, std::string(does) + ' ' + std::to_string(bytes) + " bytes of global memory", where,
             " outside of launch_config::memory: a view is larger than its allocation, or that is not "
             "registered");
  }

  /// Numbers a cluster that starts; `first` is its first block.
  std::uint32_t begin_cluster(block_index first) {
    const std::lock_guard lock(mutex_);
    clusters_.push_back({first, {}});
    return std::uint32_t(clusters_.size());
  }

  /// Throws if the access races with an earlier one. `is_over(agent, time)`: whether what one of the same cluster
  /// did at that time happens before this access.
  template <class IsOver>
  void access(const thread_context& self, global_touch how, const char* place, long_index_t bytes, access_record mine,
              call_site where, IsOver is_over) {
    if (ranges_.empty()) unregistered_left_.fetch_sub(1, std::memory_order_relaxed);
    auto address = reinterpret_cast<std::uintptr_t>(place);
    for (const std::uintptr_t end = address + std::uintptr_t(bytes); address < end;) {
      const std::uintptr_t page = address / global_history::page_bytes;
      const std::uintptr_t part_end = std::min(end, (page + 1) * global_history::page_bytes);
      shard& s = shards_[page % num_shards];
      const std::lock_guard lock(s.mutex);
      mine.place = s.places.number_of(self.place_of(where));
      const auto ordered = [&](const access_record& before) {
        if (before.cluster != mine.cluster) return knows(mine.cluster, before);
        return before.thread == mine.thread || is_over(before.thread, before.time);
      };
      const global_history::race race = s.history.access(address, part_end, how, mine, ordered);
      if (race.did != nullptr) refuse_race(self, how, where, mine, race, s.places);
      address = part_end;
    }
  }

  /// What the cluster did before `time` happens before everything after an acquire of the counter.
  void release(std::uint32_t cluster, const unsigned* counter, std::uint32_t time) {
    const std::lock_guard lock(mutex_);
    known_clusters& to = released_[counter];
    add(to, clusters_[cluster - 1].known);
    to[cluster] = time;
  }
  /// What was released to this counter in global memory happens before the cluster's next access.
  void acquire(std::uint32_t cluster, const unsigned* counter) {
    const std::lock_guard lock(mutex_);
    add(clusters_[cluster - 1].known, released_[counter]);
  }

 private:
  using known_clusters =
      std::map<std::uint32_t, std::uint32_t>;  // by cluster: the time before which its accesses are ordered
  struct cluster_record {
    block_index first;
    known_clusters known;
  };

  static void add(known_clusters& to, const known_clusters& from) {
    for (const auto& [cluster, time] : from) to[cluster] = max(to[cluster], time);
  }
  bool knows(std::uint32_t cluster, const access_record& before) {
    const std::lock_guard lock(mutex_);
    const known_clusters& known = clusters_[cluster - 1].known;
    const auto found = known.find(before.cluster);
    return found != known.end() && before.time < found->second;
  }

  const memory_range* range_of(const char* place, long_index_t bytes) const {
    for (const memory_range& r : ranges_) {
      const auto* const begin = static_cast<const char*>(r.begin);
      if (place >= begin && place + bytes <= begin + r.bytes) return &r;
    }
    return nullptr;
  }

  [[noreturn]] void refuse_race(const thread_context& self, global_touch how, call_site where,
                                const access_record& mine, const global_history::race& race,
                                const call_places& places) {
    const auto* const at = reinterpret_cast<const char*>(race.address);
    const memory_range* const range = range_of(at, 1);
    const std::string byte =
        range == nullptr
            ? ""
            : " at byte " + std::to_string(at - static_cast<const char*>(range->begin)) + " of an allocation";
    const index_t thread = race.before.thread, threads = self.block_size;
    const std::lock_guard lock(mutex_);
    block_index block = clusters_[race.before.cluster - 1].first;
    block.x += thread / threads;
    const bool by_copy = thread >= threads_of_cluster_, same_cluster = race.before.cluster == mine.cluster,
               same_block = same_cluster && (by_copy || thread / threads == self.rank);
    const std::string who = by_copy ? "a bulk copy"
                            : same_block
                                ? "thread " + std::to_string(thread % threads)
                                : "thread " + std::to_string(thread % threads) + " of block " + to_string(block);
    refuse(self, std::string(name(how)) + " global memory", where,
           byte + " that " + who + race.did + places.text(race.before.place) +
               (same_block ? " with no barrier between" : ", and nothing orders these blocks"));
  }

  /// Each has every num_shards-th page, and numbers of its own for places.
  static constexpr std::size_t num_shards = 16;
  struct shard {
    spin_lock mutex;
    call_places places;
    global_history history;
  };

  std::vector<memory_range> ranges_;
  bool finds_races_;
  index_t threads_of_cluster_;
  std::atomic<long_index_t> unregistered_left_ = 1 << 18;  // accesses that are still looked at without ranges
  array<shard, num_shards> shards_{};
  std::mutex mutex_;  // of what follows
  std::vector<cluster_record> clusters_;
  std::map<const unsigned*, known_clusters> released_;  // by counter
};

}  // namespace tilewright::emulator
