// SPDX-License-Identifier: MIT
// Happens-before between clusters of blocks: what threads release and acquire by counters in global memory.
#pragma once

#include <tilewright/core/base/block_index.hpp>
#include <tilewright/machine/emulator/global/global_history.hpp>
#include <tilewright/machine/emulator/lds/lds_history.hpp>
#include <tilewright/machine/emulator/threads/memory_scope.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
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

/// A cluster of blocks in the launches that share a cluster_order.
struct cluster_place {
  exec::block_index first;      ///< its first block
  index_t threads, block_size;  ///< of the cluster, of each block
  std::uint32_t launch = 0;     ///< of begin_launch()
};

/// Shared by the workers of a launch, or of all launches of several GPUs. Clusters are numbered from 1 on; times are
/// those of a cluster's access_order. Launches of one GPU happen one after the other; without begin_launch() there is
/// one launch, 0.
class cluster_order {
 public:
  /// A launch of a GPU. GPUs are told apart by the threads of the CPU that launch.
  std::uint32_t begin_launch(std::thread::id gpu) {
    const std::lock_guard lock(mutex_);
    launches_.push_back({gpu, known_[gpu]});
    return std::uint32_t(launches_.size() - 1);
  }
  /// Everything that it has done and acquired happens before the GPU's later launches.
  void end_launch(std::uint32_t launch) {
    const std::lock_guard lock(mutex_);
    known_clusters& known = known_[launches_[launch].gpu];
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      if (clusters_[i].place.launch != launch) continue;
      for (const acquired_clusters& a : clusters_[i].acquired) add(known, a.known);
      known[std::uint32_t(i + 1)] = complete();
    }
  }
  /// Whether two clusters run on one GPU.
  bool share_gpu(std::uint32_t cluster, std::uint32_t other) const {
    const std::lock_guard lock(mutex_);
    return launch_of(cluster).gpu == launch_of(other).gpu;
  }

  /// The number of a cluster that starts.
  std::uint32_t begin_cluster(const cluster_place& place) {
    const std::lock_guard lock(mutex_);
    clusters_.push_back({place, {}, {}, {}});
    return std::uint32_t(clusters_.size());
  }
  /// Of a cluster that has started.
  cluster_place place_of(std::uint32_t cluster) const {
    const std::lock_guard lock(mutex_);
    return clusters_[cluster - 1].place;
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
  void release(const accessing_thread& self, const unsigned* counter, const known_accesses& clock, memory_scope scope) {
    const std::lock_guard lock(mutex_);
    released_clusters& released = released_[counter];
    memory_scope& narrowest = released.gpus.try_emplace(launch_of(self.cluster).gpu, scope).first->second;
    narrowest = min(narrowest, scope);
    known_clusters& to = released.known;
    add(to, known_by(self));
    add(to, {{self.cluster, std::make_shared<known_accesses>(clock)}});
  }
  /// A thread of the cluster has read the counter. False: the scope of a release or of the acquire leaves out the GPU
  /// of the other one.
  bool acquire(std::uint32_t cluster, index_t thread, std::uint32_t time, const unsigned* counter, memory_scope scope) {
    const std::lock_guard lock(mutex_);
    const auto found = released_.find(counter);
    if (found == released_.end()) return true;
    clusters_[cluster - 1].acquired.push_back({thread, time, found->second.known});
    const std::thread::id gpu = launch_of(cluster).gpu;
    return std::ranges::all_of(found->second.gpus, [&](const auto& of) {
      return of.first == gpu || (of.second == memory_scope::system && scope == memory_scope::system);
    });
  }
  /// What the thread has acquired is visible to later TMA operations, too.
  void fence_async_proxy(const accessing_thread& self, std::uint32_t time) {
    const std::lock_guard lock(mutex_);
    known_clusters fenced;
    for (const auto& [cluster, clock] : known_by(self)) {
      if (clock == complete()) {
        fenced[cluster] = clock;
        continue;
      }
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
    if (!before.is_of_store()) return relation(before, before.time, self.by_async_proxy && wrote, self);
    const bulk_store store = store_of(before);
    const access_relation found = relation(before, store.end == 0 ? store.begin : store.end, false, self);
    if (found != access_relation::ordered || store.end != 0) return found;
    const std::lock_guard lock(mutex_);
    return has_ended(before.cluster, self) ? found : access_relation::in_flight;
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
  struct released_clusters {
    known_clusters known;
    std::map<std::thread::id, memory_scope> gpus;  // that have released, and the narrowest scope of each
  };
  struct launch_record {
    std::thread::id gpu;
    known_clusters known;  // at its start
  };
  struct cluster_record {
    cluster_place place;
    std::vector<acquired_clusters> acquired;
    std::vector<bulk_store> stores;
    std::vector<std::pair<index_t, std::uint32_t>> waits_for_previous;  // threads and times
  };

  /// The clock of a cluster whose launch has ended.
  static const std::shared_ptr<const known_accesses>& complete() {
    static const auto clock = std::make_shared<const known_accesses>();
    return clock;
  }
  const launch_record& launch_of(std::uint32_t cluster) const { return launches_[clusters_[cluster - 1].place.launch]; }
  static void add(known_clusters& to, const known_clusters& from) {
    for (const auto& [cluster, clock] : from) {
      auto& mine = to[cluster];
      if (mine == nullptr || clock == complete()) mine = clock;
      if (mine == clock || mine == complete()) continue;
      known_accesses both = *mine;
      both.add(*clock);
      mine = std::make_shared<known_accesses>(std::move(both));
    }
  }
  known_clusters known_by(const accessing_thread& self) const {
    known_clusters all = launch_of(self.cluster).known;
    for (const acquired_clusters& a : clusters_[self.cluster - 1].acquired)
      if (self.is_over(a.thread, a.time)) add(all, a.known);
    return all;
  }
  bulk_store store_of(const access_record& access) const {
    const std::lock_guard lock(mutex_);
    return clusters_[access.cluster - 1].stores[access.time & ~access_record::of_store];
  }
  /// Whether the end of the launch that the cluster belongs to happens before the thread's access.
  bool has_ended(std::uint32_t cluster, const accessing_thread& self) const {
    const auto is_known = [&](const known_clusters& known) {
      const auto found = known.find(cluster);
      return found != known.end() && found->second == complete();
    };
    return is_known(launch_of(self.cluster).known) ||
           std::ranges::any_of(clusters_[self.cluster - 1].acquired, [&](const acquired_clusters& a) {
             return is_known(a.known) && self.is_over(a.thread, a.time);
           });
  }
  /// Of an access at that time.
  access_relation relation(const access_record& before, std::uint32_t time, bool sees_fenced,
                           const accessing_thread& self) const {
    access_relation best = access_relation::racing;
    if (before.cluster == self.cluster && self.is_over(before.thread, time)) {
      const bool needs_fence = sees_fenced && before.thread < self.order.num_threads();
      if (!needs_fence || self.is_fenced(before.thread, time)) return access_relation::ordered;
      best = access_relation::unfenced;
    }
    const std::lock_guard lock(mutex_);
    if (has_ended(before.cluster, self)) return access_relation::ordered;
    const bool needs_fence = sees_fenced && before.thread < clusters_[before.cluster - 1].place.threads;
    const auto contains = [&](const known_clusters& known) {
      const auto found = known.find(before.cluster);
      return found != known.end() && known_accesses::at(found->second->over, before.thread) > time;
    };
    if (contains(launch_of(self.cluster).known)) return access_relation::ordered;
    for (const acquired_clusters& a : clusters_[self.cluster - 1].acquired) {
      if (!contains(a.known) || !self.is_over(a.thread, a.time)) continue;
      const auto found = a.known.find(before.cluster);
      if (!needs_fence || known_accesses::at(found->second->fenced_in_memory, before.thread) > time)
        return access_relation::ordered;
      best = access_relation::unfenced;
    }
    return best;
  }

  mutable std::mutex mutex_;
  std::vector<cluster_record> clusters_;
  bool waits_for_previous_ = false;                        // any thread of the launch
  std::map<const unsigned*, released_clusters> released_;  // by counter
  std::vector<launch_record> launches_{{}};
  std::map<std::thread::id, known_clusters> known_;  // by each GPU after its latest launch
};

}  // namespace tilewright::emulator
