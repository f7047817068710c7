// SPDX-License-Identifier: MIT
// A ring of stages in LDS between producers and consumers of a block: who waits for whom, by mbarriers.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// Where a producer or a consumer is in a ring of stages: the stage, and the parity of its barriers' phase.
template <index_t Stages>
struct pipeline_state {
  index_t stage = 0;
  unsigned phase = 0;

  TILEWRIGHT_HD void advance() {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1;
    }
  }
  /// As `count` times advance().
  TILEWRIGHT_HD void skip(index_t count) {
    const index_t end = stage + count, laps = divide(end, Stages);
    stage = end - laps * Stages;
    phase ^= unsigned(laps) & 1;
  }
};

/// Two barriers for each of `Stages` stages. Both sides go through the stages in the same order, each with a state of
/// its own:
///
///   producer | acquire: wait for empty[i] | write stage i  | commit: arrive at full[i]    | next i
///   consumer |                              wait: full[i]  | read stage i | release: arrive at empty[i] | next i
///
/// TMA loads commit by themselves once all bytes that acquire() expects have arrived. A stage may have several
/// producers and consumers: init() says how many arrive. In the first lap, producers find all stages empty.
template <index_t Stages>
struct mbarrier_pipeline {
  using state = pipeline_state<Stages>;
  static constexpr index_t bytes = 2 * Stages * exec::mbarrier::bytes;  // of LDS

  unsigned barriers;  // LDS address of the first one, aligned to 8 bytes

  TILEWRIGHT_HD exec::mbarrier full(index_t stage) const {
    return {barriers + unsigned(stage) * exec::mbarrier::bytes};
  }
  TILEWRIGHT_HD exec::mbarrier empty(index_t stage) const { return full(Stages + stage); }

  /// One thread, before exec::fence_barrier_init().
  TILEWRIGHT_HD void init(index_t producer_arrivals, index_t consumer_arrivals) const {
    for (index_t stage = 0; stage < Stages; ++stage) {
      full(stage).init(producer_arrivals);
      empty(stage).init(consumer_arrivals);
    }
  }

  /// Waits until all consumers have released the stage.
  TILEWRIGHT_HD void producer_acquire(const state& at) const { empty(at.stage).wait(at.phase ^ 1); }
  /// The same, and expects that many bytes; the result is the barrier of the TMA loads that write them.
  TILEWRIGHT_HD exec::mbarrier producer_acquire(const state& at, index_t num_bytes) const {
    const exec::mbarrier loaded = full(at.stage);
    producer_acquire(at);
    loaded.arrive_and_expect(num_bytes);
    return loaded;
  }
  /// For stages that threads write: one arrival. Before wgmma reads what they wrote, exec::fence_async_proxy().
  TILEWRIGHT_HD void producer_commit(const state& at) const { full(at.stage).arrive(); }

  /// Waits until the stage is full.
  TILEWRIGHT_HD void consumer_wait(const state& at) const { full(at.stage).wait(at.phase); }
  /// One arrival of a consumer that has read the stage.
  TILEWRIGHT_HD void consumer_release(index_t stage) const { empty(stage).arrive(); }
  /// The same at the barrier of another block of the cluster, whose producer writes to this block, too.
  TILEWRIGHT_HD void consumer_release_at(index_t stage, index_t rank) const { empty(stage).arrive_at(rank); }
};

}  // namespace tilewright::detail
#endif
