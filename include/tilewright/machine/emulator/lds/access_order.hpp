// SPDX-License-Identifier: MIT
// Happens-before between LDS accesses (vector clocks).
#pragma once

#include <tilewright/core/base/math.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::emulator {

/// A vector clock: by agent, the time before which everything that it did happens before the owner's next access.
/// Fenced: the same for what copies and matrix instructions of the owner see in LDS, and what its copies see in global
/// memory.
struct known_accesses {
  /// Times by agent, 0 where the vector is too short.
  std::vector<std::uint32_t> over, fenced, fenced_in_memory;

  /// The later time of each agent.
  void add(const known_accesses& other) {
    add(over, other.over);
    add(fenced, other.fenced);
    add(fenced_in_memory, other.fenced_in_memory);
  }
  /// The time of one agent.
  static std::uint32_t at(const std::vector<std::uint32_t>& times, index_t agent) {
    return std::size_t(agent) < times.size() ? times[std::size_t(agent)] : 0;
  }
  /// The same for one vector of times.
  static void add(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
    if (to.size() < from.size()) to.resize(from.size());
    // Vectors by hand: this is the longest loop of Hopper kernels on the emulator, and often compiled with -O1. Times
    // are below 2^31, and so compare as signed numbers, which SSE2 can.
    using four = std::int32_t __attribute__((vector_size(16)));
    const std::size_t size = from.size(), whole = size / 4 * 4;
    for (std::size_t i = 0; i < whole; i += 4) {
      four a, b;
      __builtin_memcpy(&a, &to[i], sizeof(a));
      __builtin_memcpy(&b, &from[i], sizeof(b));
      const four is_later = a > b;
      a = (a & is_later) | (b & ~is_later);
      __builtin_memcpy(&to[i], &a, sizeof(a));
    }
    for (std::size_t i = whole; i < size; ++i) to[i] = max(to[i], from[i]);
  }
};

/// The clock of a cluster of blocks, which advances at every barrier. For threads that synchronise in other ways than
/// by block_sync and wave_sync it keeps a vector clock for each of them. Agents are the threads and what works for
/// them, such as copies and warpgroups. Waves are agents, too: their times are those of their waits at barriers in LDS.
class access_order {
 public:
  /// For the threads of a cluster.
  explicit access_order(index_t threads) : threads_(threads) {}

  /// The time of accesses made now.
  std::uint32_t now() const { return now_; }
  /// Advances the clock; returns the new time.
  std::uint32_t tick() { return ++now_; }
  /// Whether vector clocks are kept: use() has been called.
  bool is_used() const { return !known_.empty(); }
  /// The time at which the running cluster began.
  std::uint32_t begin() const { return begin_; }
  /// Threads of the cluster.
  index_t num_threads() const { return threads_; }

  /// Forgets the cluster before. True if the clock restarts from zero.
  bool begin_cluster() {
    const bool anew = now_ > latest_begin;
    if (anew) now_ = 0;
    begin_ = tick();
    agents_ = first_agent();
    cluster_sync_ = begin_;
    for (known_accesses& k : known_) k = {};
    for (known_accesses& k : published_) k = {};
    return anew;
  }

  /// Keeps vector clocks from now on. `known_before(t, u)`: the time before which all accesses of u happen before those
  /// of t; the same for all t of a warp.
  template <class KnownBefore>
  void use(KnownBefore known_before) {
    known_.resize(std::size_t(threads_));
    published_.resize(std::size_t(threads_));
    for (index_t t = 0; t < threads_; ++t) {
      if (t % 32 != 0) {
        known_[std::size_t(t)] = known_[std::size_t(t - 1)];
        continue;
      }
      auto& over = known_[std::size_t(t)].over;
      over.resize(std::size_t(threads_));
      for (index_t u = 0; u < threads_; ++u) over[std::size_t(u)] = known_before(t, u);
    }
  }

  /// A number for something that works for threads: after those of the threads.
  index_t new_agent() { return agents_++; }
  /// Of the warp of a thread of an NVIDIA GPU.
  index_t agent_of_wave(index_t thread) const { return threads_ + thread / 32; }

  /// Whether what the agent did at that time happens before the thread's next access.
  bool is_over(index_t thread, index_t agent, std::uint32_t time) const {
    return is_used() && known_accesses::at(known_[std::size_t(thread)].over, agent) > time;
  }
  /// The same for what the thread's copies and matrix instructions see: needs fence_async_proxy().
  bool is_fenced(index_t thread, index_t agent, std::uint32_t time) const {
    return known_accesses::at(known_[std::size_t(thread)].fenced, agent) > time;
  }
  /// The same for what the thread's copies see in global memory.
  bool is_fenced_in_memory(index_t thread, index_t agent, std::uint32_t time) const {
    return is_used() && known_accesses::at(known_[std::size_t(thread)].fenced_in_memory, agent) > time;
  }
  /// Whether a thread has called fence_barrier_init since.
  bool has_published(index_t thread, std::uint32_t time) const {
    return known_accesses::at(published_[std::size_t(thread)].over, thread) > time;
  }

  /// Adds the thread's clock to `to`, for threads that acquire it.
  void release(index_t thread, known_accesses& to) { to.add(up_to_now(thread)); }
  /// What the thread knows, up to now.
  const known_accesses& known_by(index_t thread) { return up_to_now(thread); }
  /// What `from` knows happens before the thread's next access.
  void acquire(index_t thread, const known_accesses& from) { known_[std::size_t(thread)].add(from); }
  /// Adds what the agent has done.
  void release_agent(index_t agent, known_accesses& to) {
    if (to.over.size() <= std::size_t(agent)) to.over.resize(std::size_t(agent) + 1);
    to.over[std::size_t(agent)] = tick();
  }
  /// What the agent has done happens before the thread's next access.
  void acquire_agent(index_t thread, index_t agent) { release_agent(agent, known_[std::size_t(thread)]); }
  /// As acquire_agent, of what it did before `time`.
  void acquire_agent(index_t thread, index_t agent, std::uint32_t time) {
    auto& over = known_[std::size_t(thread)].over;
    if (over.size() <= std::size_t(agent)) over.resize(std::size_t(agent) + 1);
    over[std::size_t(agent)] = max(over[std::size_t(agent)], time);
  }

  /// The thread's copies and matrix instructions see what it knows.
  void fence_async_proxy(index_t thread) {
    known_accesses& mine = up_to_now(thread);
    known_accesses::add(mine.fenced, mine.over);
  }
  /// The thread's copies see what it knows in global memory.
  void fence_async_proxy_in_memory(index_t thread) {
    known_accesses& mine = up_to_now(thread);
    known_accesses::add(mine.fenced_in_memory, mine.over);
  }
  /// Publishes the thread's clock for cluster_sync().
  void fence_barrier_init(index_t thread) { published_[std::size_t(thread)] = up_to_now(thread); }

  /// A barrier of these threads: all get the union of their clocks.
  void meet(index_t first, index_t count) {
    if (!is_used()) return;
    known_accesses all;
    for (index_t t = first; t < first + count; ++t) all.add(up_to_now(t));
    for (index_t t = first; t < first + count; ++t) known_[std::size_t(t)] = all;
  }
  /// A barrier of all threads of the cluster; it orders only what fence_barrier_init has published.
  void cluster_sync() {
    known_accesses all;
    for (const known_accesses& k : published_) all.add(k);
    for (known_accesses& k : known_) k.add(all);
    cluster_sync_ = tick();
  }
  /// Time of the latest barrier of the cluster.
  std::uint32_t latest_cluster_sync() const { return cluster_sync_; }

 private:
  static constexpr std::uint32_t latest_begin = 0x70000000;

  known_accesses& up_to_now(index_t thread) {
    known_accesses& mine = known_[std::size_t(thread)];
    if (mine.over.size() <= std::size_t(thread)) mine.over.resize(std::size_t(thread) + 1);
    mine.over[std::size_t(thread)] = tick();
    return mine;
  }

  index_t first_agent() const { return agent_of_wave(threads_ + 31); }

  index_t threads_, agents_ = first_agent();
  // Times count barriers over all clusters: those of earlier clusters are before begin_.
  std::uint32_t now_ = 0, begin_ = 0, cluster_sync_ = 0;
  std::vector<known_accesses> known_;      // by each thread
  std::vector<known_accesses> published_;  // by each thread's latest fence_barrier_init
};

}  // namespace tilewright::emulator
