// SPDX-License-Identifier: MIT
#include "grid_barrier.hpp"

#include "findings.hpp"
#include "valu.hpp"

namespace emu {
namespace {
u32 resource_number(const wave& w, const inst& i) { return ((w.s[s_m0] >> 16 & 63) + static_cast<u32>(i.offset)) & 63; }
// The operand of the first active lane; none is active: nothing happens.
template <class F>
void with_operand(wave& w, const inst& i, F f) {
  grid_barriers& all = w.launch->shared->barriers;
  const u64 lanes = w.exec();
  if (!lanes) return;
  w.gws_resource = resource_number(w, i);
  const std::lock_guard lock(all.mutex);
  f(all, all.resources[w.gws_resource], w.v(i.src[0].reg)[std::countr_zero(lanes)]);
}
void gws_init(wave& w, const inst& i) {
  with_operand(w, i, [](grid_barriers&, gws_resource& r, u32 remaining) { r.remaining = remaining; });
}
void gws_barrier(wave& w, const inst& i) {
  with_operand(w, i, [&](grid_barriers& all, gws_resource& r, u32 next) {
    if (r.remaining == gws_resource::not_set)
      stop(
          w, i, finding_kind::stuck,
          "a barrier of the grid in a launch that is not cooperative, and without ds_gws_init: hardware would wait for "
          "ever");
    w.barrier = w.ip, w.gws_opened = r.opened;
    if (r.remaining) {
      --r.remaining, w.status = wave::at_grid_barrier;
      return;
    }
    r.remaining = next, ++r.opened, ++all.opened, all.blocked = 0;
    forget_accesses(*w.launch);
  });
}
}  // namespace

bool grid_barrier_opened(const wave& w) {
  grid_barriers& all = w.launch->shared->barriers;
  const std::lock_guard lock(all.mutex);
  return all.resources[w.gws_resource].opened != w.gws_opened;
}
void block_workgroup(wave& waiting, u64& counted_at, u64 live, u64 not_started) {
  grid_barriers& all = waiting.launch->shared->barriers;
  const std::lock_guard lock(all.mutex);
  const gws_resource& r = all.resources[waiting.gws_resource];
  const bool of_cluster = waiting.gws_resource >= grid_barriers::first_cluster;
  if (r.opened != waiting.gws_opened) return;
  if (counted_at != all.opened + 1) counted_at = all.opened + 1, ++all.blocked;
  if (all.blocked < live) return;
  stop(waiting, waiting.launch->prog->code[waiting.barrier], finding_kind::divergent_barrier,
       std::string("deadlock at a barrier of the ") + (of_cluster ? "cluster" : "grid") + ": it waits for " +
           std::to_string(r.remaining + 1) + " more arrivals, and every workgroup has ended or waits (ended: " +
           std::to_string(all.ended) + ", not started: " + std::to_string(not_started) + ")");
}
void cluster_signal(wave& w) {
  grid_barriers& all = w.launch->shared->barriers;
  const std::lock_guard lock(all.mutex);
  gws_resource& r = all.resources[grid_barriers::first_cluster + w.wg->cluster];
  const u32 others = w.launch->kernel->cluster_size() - 1;
  if (r.remaining == gws_resource::not_set) r.remaining = others;
  if (r.remaining)
    --r.remaining;
  else
    r.remaining = others, ++r.opened, ++all.opened, all.blocked = 0;
}
void cluster_wait(wave& w) {
  grid_barriers& all = w.launch->shared->barriers;
  const std::lock_guard lock(all.mutex);
  w.gws_resource = grid_barriers::first_cluster + w.wg->cluster;
  const u64 opened = all.resources[w.gws_resource].opened;
  if (opened == w.cluster_waits++) w.gws_opened = opened, w.status = wave::at_grid_barrier;
}
void register_grid_barrier() {
  for_names("ds_gws_barrier", {&gws_barrier, 0});
  for_names("ds_gws_init", {&gws_init, 0});
}
}  // namespace emu
