// SPDX-License-Identifier: MIT
// Happens-before between clusters of blocks: what threads release and acquire by counters in global memory.
#pragma once

#include <tilewright/core/base/block_index.hpp>
#include <tilewright/machine/emulator/global/global_history.hpp>
#include <tilewright/machine/emulator/lds/lds_history.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tilewright::emulator {

/// A thread that makes an access, and what happens before that in its own cluster.
struct accessing_thread {
  std::uint32_t cluster;      ///< number of its cluster in the launch, from 1
  index_t number;             ///< among the threads of the cluster
  bool by_async_proxy;        ///< whether TMA makes the access
  const lds_history& block;   ///< of the thread's block
  const access_order& order;  ///< of the cluster

  /// Whether what the agent did at that time happens before the access.
  bool is_over(index_t agent, std::uint32_t time) const {
    return agent == number || block.is_over(number, agent, time);
  }
  /// The same with a fence of the asynchronous proxy between.
  bool is_fenced(index_t agent, std::uint32_t time) const { return order.is_fenced_in_memory(number, agent, time); }
};

/// Shared by the workers of a launch. Clusters are numbered from 1 on; times are those of a cluster's access_order.
class cluster_order {
 public:
  /// The number of a cluster that starts; `first` is its first block.
  std::uint32_t begin_cluster(exec::block_index first) {
    const std::lock_guard lock(mutex_);
    clusters_.push_back({first, {}, {}, {}});
    return std::uint32_t(clusters_.size());
  }
  /// Of a cluster that has started.
  exec::block_index first_block(std::uint32_t cluster) const {
    const std::lock_guard lock(mutex_);
    return clusters_[cluster - 1].first;
  }

  /// A TMA store starts. Its accesses have the time that this returns.
  std::uint32_t begin_store(std::uint32_t cluster, std::uint32_t time) {
    const std::lock_guard lock(mutex_);
    auto& stores = clusters_[cluster - 1].stores;
    stores.push_back({time, 0});
    return access_record::of_store | std::uint32_t(stores.size() - 1);
  }
  /// Its thread has waited for it.
  void end_store(std::uint32_t cluster, std::uint32_t store, std::uint32_t time) {
    const std::lock_guard lock(mutex_);
    clusters_[cluster - 1].stores[store & ~access_record::of_store].end = time;
  }

  /// What the thread's clock contains, and what it has acquired, happens before all that follows an acquire.
  void release(const accessing_thread& self, const unsigned* counter, const known_accesses& clock) {
    const std::lock_guard lock(mutex_);
    known_clusters& to = released_[counter];
    add(to, known_by(self));
    add(to, {{self.cluster, std::make_shared<known_accesses>(clock)}});
  }
  /// A thread of the cluster has read the counter.
  void acquire(std::uint32_t cluster, index_t thread, std::uint32_t time, const unsigned* counter) {
    const std::lock_guard lock(mutex_);
    if (const auto found = released_.find(counter); found != released_.end())
      clusters_[cluster - 1].acquired.push_back({thread, time, found->second});
  }
  /// What the thread has acquired is visible to later TMA operations, too.
  void fence_async_proxy(const accessing_thread& self, std::uint32_t time) {
    const std::lock_guard lock(mutex_);
    known_clusters fenced;
    for (const auto& [cluster, clock] : known_by(self)) {
      known_accesses all = *clock;
      known_accesses::add(all.fenced_in_memory, all.over);
      fenced[cluster] = std::make_shared<known_accesses>(std::move(all));
    }
    if (!fenced.empty()) clusters_[self.cluster - 1].acquired.push_back({self.number, time, std::move(fenced)});
  }

  /// The thread has waited for the previous kernel, whose accesses happen before all that follows.
  void wait_for_previous_kernel(std::uint32_t cluster, index_t thread, std::uint32_t time) {
    const std::lock_guard lock(mutex_);
    clusters_[cluster - 1].waits_for_previous.push_back({thread, time});
    waits_for_previous_ = true;
  }
  /// Whether any thread of the launch has done so.
  bool waits_for_previous_kernel() const {
    const std::lock_guard lock(mutex_);
    return waits_for_previous_;
  }
  /// Whether the previous kernel's end happens before the access.
  bool knows_previous_kernel(const accessing_thread& self) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(clusters_[self.cluster - 1].waits_for_previous,
                               [&](const auto& wait) { return self.is_over(wait.first, wait.second); });
  }

  /// Relation of an earlier access to a conflicting one that the thread makes now. The asynchronous proxy sees what
  /// others wrote only after a fence (PTX ISA, "Proxies"); a TMA operation that has been waited for needs none.
  access_relation relation(const access_record& before, bool wrote, const accessing_thread& self) const {
    const bool needs_fence =
        self.by_async_proxy && wrote && !before.is_of_store() && before.thread < self.order.num_threads();
    if (!before.is_of_store()) return relation(before, before.time, needs_fence, self);
    const bulk_store store = store_of(before);
    const access_relation found = relation(before, store.end == 0 ? store.begin : store.end, false, self);
    return found == access_relation::ordered && store.end == 0 ? access_relation::in_flight : found;
  }

 private:
  using known_clusters = std::map<std::uint32_t, std::shared_ptr<const known_accesses>>;  // clocks of other clusters
  struct acquired_clusters {
    index_t thread;
    std::uint32_t time;
    known_clusters known;
  };
  struct bulk_store {
    std::uint32_t begin, end;  // end: when its thread has waited for it; 0: in flight
  };
  struct cluster_record {
    exec::block_index first;
    std::vector<acquired_clusters> acquired;
    std::vector<bulk_store> stores;
    std::vector<std::pair<index_t, std::uint32_t>> waits_for_previous;  // threads and times
  };

  static void add(known_clusters& to, const known_clusters& from) {
    for (const auto& [cluster, clock] : from) {
      auto& mine = to[cluster];
      if (mine == nullptr) mine = clock;
      if (mine == clock) continue;
      known_accesses both = *mine;
      both.add(*clock);
      mine = std::make_shared<known_accesses>(std::move(both));
    }
  }
  known_clusters known_by(const accessing_thread& self) const {
    known_clusters all;
    for (const acquired_clusters& a : clusters_[self.cluster - 1].acquired)
      if (self.is_over(a.thread, a.time)) add(all, a.known);
    return all;
  }
  bulk_store store_of(const access_record& access) const {
    const std::lock_guard lock(mutex_);
    return clusters_[access.cluster - 1].stores[access.time & ~access_record::of_store];
  }
  /// Of an access at that time.
  access_relation relation(const access_record& before, std::uint32_t time, bool needs_fence,
                           const accessing_thread& self) const {
    if (before.cluster == self.cluster) {
      if (!self.is_over(before.thread, time)) return access_relation::racing;
      return needs_fence && !self.is_fenced(before.thread, time) ? access_relation::unfenced : access_relation::ordered;
    }
    const std::lock_guard lock(mutex_);
    access_relation best = access_relation::racing;
    for (const acquired_clusters& a : clusters_[self.cluster - 1].acquired) {
      const auto found = a.known.find(before.cluster);
      if (found == a.known.end() || known_accesses::at(found->second->over, before.thread) <= time ||
          !self.is_over(a.thread, a.time))
        continue;
      if (!needs_fence || known_accesses::at(found->second->fenced_in_memory, before.thread) > time)
        return access_relation::ordered;
      best = access_relation::unfenced;
    }
    return best;
  }

  mutable std::mutex mutex_;
  std::vector<cluster_record> clusters_;
  bool waits_for_previous_ = false;                     // any thread of the launch
  std::map<const unsigned*, known_clusters> released_;  // by counter
};

}  // namespace tilewright::emulator
