// SPDX-License-Identifier: MIT
// Registered global memory of a launch: refuses accesses outside of it, and races between threads of any blocks.
#pragma once

#include <tilewright/emulator/global/global_history.hpp>
#include <tilewright/emulator/threads/refuse.hpp>

#include <algorithm>
#include <map>
#include <mutex>

namespace tilewright::emulator {

/// Shared by the workers of a launch. Without ranges nothing is checked.
class global_memory {
 public:
  explicit global_memory(std::vector<memory_range> ranges) : ranges_(std::move(ranges)) {}

  bool is_checked() const { return !ranges_.empty(); }

  /// Throws if the bytes are not inside of one range.
  void check_inside(const thread_context& self, const char* does, const char* place, long_index_t bytes,
                    call_site where) const {
    if (range_of(place, bytes) == nullptr)
      refuse(self, std::string(does) + ' ' + std::to_string(bytes) + " bytes of global memory" +
                       in_parentheses(self, where) +
                       " outside of launch_config::memory: a view is larger than its allocation, or that is not "
                       "registered");
  }

  /// Numbers a cluster that starts; `first` is its first block.
  std::uint32_t begin_cluster(block_index first) {
    const std::lock_guard lock(mutex_);
    clusters_.push_back({first, {}});
    return std::uint32_t(clusters_.size());
  }

  /// Throws if the access races with an earlier one. `is_over(thread, time)`: whether what a thread of the same cluster
  /// did at that time happens before this access.
  template <class IsOver>
  void access(const thread_context& self, global_touch how, const char* place, long_index_t bytes,
              std::uint32_t cluster, std::uint32_t time, call_site where, IsOver is_over) {
    const std::lock_guard lock(mutex_);
    const access_record mine{cluster, time, std::uint16_t(self.number), places_.number_of(self.place_of(where))};
    const auto ordered = [&](const access_record& before) {
      if (before.cluster != mine.cluster) return knows(mine.cluster, before);
      return before.thread == mine.thread || is_over(before.thread, before.time);
    };
    history_.for_each(place, bytes, [&](global_history::entry& e, const char* at) {
      const access_record* const racing = global_history::find_race(e, how, ordered);
      if (racing != nullptr) refuse_race(self, how, at, where, mine, e, *racing);
      global_history::note(e, how, mine);
    });
  }

  /// What the cluster did before `time` happens before everything after an acquire of the counter.
  void release(std::uint32_t cluster, const unsigned* counter, std::uint32_t time) {
    const std::lock_guard lock(mutex_);
    known_clusters& to = released_[counter];
    add(to, clusters_[cluster - 1].known);
    to[cluster] = time;
  }
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
  bool knows(std::uint32_t cluster, const access_record& before) const {
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

  [[noreturn]] void refuse_race(const thread_context& self, global_touch how, const char* at, call_site where,
                                const access_record& mine, const global_history::entry& e,
                                const access_record& other) const {
    const memory_range* const range = range_of(at, 1);
    const long_index_t byte = range == nullptr ? 0 : at - static_cast<const char*>(range->begin);
    const index_t threads = self.block_size;
    block_index block = clusters_[other.cluster - 1].first;
    block.x += other.thread / threads;
    const bool same_block = other.cluster == mine.cluster && other.thread / threads == self.rank;
    const char* const did = &other == &e.write                                   ? " wrote"
                            : (&other == &e.update || &other == &e.other_update) ? " updated"
                                                                                 : " read";
    refuse(self, std::string(name(how)) + " global memory" + in_parentheses(self, where) + " at byte " +
                     std::to_string(byte) + " of an allocation that thread " + std::to_string(other.thread % threads) +
                     (same_block ? "" : " of block " + to_string(block)) + did + places_.text(other.place) +
                     (same_block ? " with no barrier between" : ", and nothing orders these blocks"));
  }

  std::vector<memory_range> ranges_;
  std::mutex mutex_;
  call_places places_;
  global_history history_;
  std::vector<cluster_record> clusters_;
  std::map<const unsigned*, known_clusters> released_;  // by counter
};

}  // namespace tilewright::emulator
