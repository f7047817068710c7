// SPDX-License-Identifier: MIT
// Races in global memory between workgroups of one launch. An access happens before another one if both are of one
// workgroup, or if the first workgroup released (a fence, then an atomic or coherent store) what the second one
// acquired (an atomic or coherent load of that address, then a fence). Stores that change nothing do not count.
#include "findings.hpp"
#include "wave_access.hpp"

namespace emu {
namespace {
bool ordered(const wave& w, u32 other, u32 epoch) {
  if (other == w.wg->tag || other <= w.launch->shared->sync.base) return true;
  const auto seen = w.wg->clock.seen.find(other);
  return seen != w.wg->clock.seen.end() && seen->second >= epoch;
}
bool after_write(const wave& w, const race_cell& c, u8 mask) {
  return (c.write_mask & mask) && !ordered(w, c.writer, c.write_epoch);
}
bool after_read(const wave& w, const race_cell& c, u8 mask) {
  return (c.read_mask & mask) && !ordered(w, c.reader, c.read_epoch);
}
void note(const wave& w, race_cell& c, u32 site, u8 mask, bool write) {
  const u32 me = w.wg->tag;
  const u16 epoch = w.wg->clock.epoch;
  if (write) {
    const bool same = c.writer == me && c.write_epoch == epoch;
    c.writer = me, c.write_site = site, c.write_epoch = epoch;
    c.write_mask = same ? c.write_mask | mask : mask;
  } else if (ordered(w, c.reader, c.read_epoch)) {
    c.reader = me, c.read_site = site, c.read_epoch = epoch, c.read_mask = mask;
  }
}
void found(wave& w, const inst& i, u32 lane, u64 a, const char* what, u32 other, u32 site) {
  finding* f = report(
      w, i, finding_kind::global_race,
      [&] {
        return std::string(what) + " at " + hex(a) + " by workgroups " +
               std::to_string(other - w.launch->shared->sync.first - 1) + " and " +
               std::to_string(w.wg->tag - w.launch->shared->sync.first - 1) + " of the launch, which nothing orders";
      },
      static_cast<int>(lane), a);
  if (f) f->other = site_of(*w.launch, site), f->other_role = "the other access";
}
// Atomics and coherent accesses: what a fence before them releases, or a fence after them acquires.
void synchronise(wave& w, u64 a, bool write, bool read) {
  sync_state& s = w.launch->shared->sync;
  workgroup_clock& c = w.wg->clock;
  const auto lock = w.launch->lock(w.launch->shared->synchronising);
  if (write && c.released) {
    auto& published = s.published[a];
    for (const auto& [group, epoch] : c.seen_at_release) published[group] = std::max(published[group], epoch);
    published[w.wg->tag] = c.released;
  }
  if (read && s.published.contains(a) && c.read.size() < 64) c.read.push_back(a);
}
}  // namespace

// Everything so far happens before what follows: a barrier of the grid.
void forget_accesses(launch_state& L) {
  if (!L.globals) return;
  for (auto& [lo, b] : L.mem->buffers)
    if (b.races.lines && !b.freed)
      for (u64 n = 0; n < b.races.num_lines; ++n) b.races.lines[n].writer = b.races.lines[n].reader = 0;
}

void on_fence(wave& w, const inst& i) {
  sync_state& s = w.launch->shared->sync;
  workgroup_clock& c = w.wg->clock;
  const auto lock = w.launch->lock(w.launch->shared->synchronising);
  if (i.fence & 2) {
    for (u64 a : c.read)
      for (const auto& [group, epoch] : s.published[a]) c.seen[group] = std::max(c.seen[group], epoch);
    c.read.clear();
  }
  if (i.fence & 1) c.released = c.epoch++, c.seen_at_release = c.seen;
}

void check_global(wave& w, const inst& i, u32 lane, u64 a, u32 n, bool write) {
  launch_state& L = *w.launch;
  if (i.atomic || i.coherent) return synchronise(w, a, i.store || i.atomic, !i.store);
  const u32 site = L.site(i);
  const u64 offset = a - L.last.lo;
  for (u64 d = offset / 4; d <= (offset + n - 1) / 4; ++d) {
    const u64 lo = std::max(offset, 4 * d) - 4 * d, hi = std::min(offset + n, 4 * d + 4) - 4 * d;
    const u8 mask = static_cast<u8>((1u << hi) - (1u << lo));
    const auto lock = L.lock_memory(L.last.lo / 4 + d);
    race_cell& c = L.raced->races.of_dword(d);
    if (after_write(w, c, mask))
      found(w, i, lane, L.last.lo + 4 * d, write ? "two writes" : "a read after a write", c.writer, c.write_site);
    else if (write && after_read(w, c, mask))
      found(w, i, lane, L.last.lo + 4 * d, "a write after a read", c.reader, c.read_site);
    note(w, c, site, mask, write);
  }
}

bool global_orderly(wave& w, const inst& i, buffer_state& b, const wave_access& a, bool write) {
  constexpr u64 line_dwords = race_shadow::dwords_of_line, page_dwords = 1024;
  race_shadow& races = b.races;
  const u32 site = w.launch->site(i);
  const auto orderly = [&](race_cell& c) {
    if (after_write(w, c, 15) || (write && after_read(w, c, 15))) return false;
    note(w, c, site, 15, write);
    return true;
  };
  for (u32 n = 0; n < a.num_runs; ++n)
    for (u64 d = (a.runs[n].first - b.lo) / 4, last = d + a.runs[n].bytes / 4; d < last;) {
      const auto lock = w.launch->lock_memory(b.lo / 4 + d);
      const u64 end = std::min(last, ((b.lo / 4 + d) / page_dwords + 1) * page_dwords - b.lo / 4);
      while (d < end) {
        const bool whole = d % line_dwords == 0 && d + line_dwords <= end && !races.is_split(d / line_dwords);
        if (!orderly(whole ? races.lines[d / line_dwords] : races.of_dword(d))) return false;
        d += whole ? line_dwords : 1;
      }
    }
  return true;
}
}  // namespace emu
