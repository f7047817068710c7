// SPDX-License-Identifier: MIT
// Barriers between workgroups: the resources of global wave sync (GWS), and those of clusters.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "inst.hpp"

namespace emu {
/// Each wave that executes ds_gws_barrier arrives, whatever its workgroup. The arrival that finds `remaining` = 0 opens
/// the barrier, and its operand is `remaining` of the next one.
struct gws_resource {
  static constexpr u32 not_set = ~0u;  // neither by ds_gws_init nor by a cooperative launch
  u32 remaining = not_set;
  u64 opened = 0;  // times
};
struct grid_barriers {
  std::mutex mutex;
  static constexpr u32 first_cluster = 64;  // resources before it are those of GWS, later ones of a cluster each
  std::map<u32, gws_resource> resources;
  std::atomic<u64> ended = 0;  // workgroups
  u64 opened = 0;              // times, of all resources
  u64 blocked = 0;             // workgroups that only a barrier which opens lets go on
};
/// Whether the barrier that the wave waits at has opened.
bool grid_barrier_opened(const wave& w);
/// Counts a workgroup of which no wave can go on, once until a barrier opens. Stops the launch if all of `live`
/// workgroups are blocked. `counted_at`: of this workgroup, 0 before the first call.
void block_workgroup(wave& waiting, u64& counted_at, u64 live, u64 not_started);
/// One signal for each workgroup of the wave's cluster opens its barrier.
void cluster_signal(wave& w);
void cluster_wait(wave& w);
void register_grid_barrier();
}  // namespace emu
