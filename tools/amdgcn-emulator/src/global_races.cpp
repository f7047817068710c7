// SPDX-License-Identifier: MIT
// Races in global memory between workgroups of one launch. An access happens before another one if both are of one
// workgroup, or if the first workgroup released (a fence, then an atomic or coherent store) what the second one
// acquired (an atomic or coherent load of that address, then a fence). Stores that change nothing do not count.
#include "findings.hpp"
#include "memory.hpp"

namespace emu {
namespace {
bool ordered(const sync_state& s, u32 me, u32 other, u32 epoch) {
  if (other == me || other <= s.base) return true;
  const auto c = s.clocks.find(me);
  if (c == s.clocks.end()) return false;
  const auto seen = c->second.seen.find(other);
  return seen != c->second.seen.end() && seen->second >= epoch;
}
void found(wave& w, const inst& i, u32 lane, u64 a, const char* what, u32 other, u32 site) {
  finding* f = report(
      w, i, finding_kind::global_race,
      [&] {
        return std::string(what) + " at " + hex(a) + " by workgroups " +
               std::to_string(other - w.launch->sync.first - 1) + " and " +
               std::to_string(w.wg->tag - w.launch->sync.first - 1) + " of the launch, which nothing orders";
      },
      static_cast<int>(lane), a);
  if (f) f->other = site_of(*w.launch, site), f->other_role = "the other access";
}
// Atomics and coherent accesses: what a fence before them releases, or a fence after them acquires.
void synchronise(wave& w, u64 a, bool write, bool read) {
  sync_state& s = w.launch->sync;
  workgroup_clock& c = s.clocks[w.wg->tag];
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
    if (b.cells && !b.freed)
      for (u64 d = 0; d <= b.bytes() / 4; ++d) b.cells[d].writer = b.cells[d].reader = 0;
}

void on_fence(wave& w, const inst& i) {
  sync_state& s = w.launch->sync;
  workgroup_clock& c = s.clocks[w.wg->tag];
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
  const u32 me = w.wg->tag, site = L.site(i);
  const auto clock = L.sync.clocks.find(me);
  const u16 epoch = clock == L.sync.clocks.end() ? u16{1} : clock->second.epoch;
  const u64 offset = a - L.last.lo;
  for (u64 d = offset / 4; d <= (offset + n - 1) / 4; ++d) {
    const u64 lo = std::max(offset, 4 * d) - 4 * d, hi = std::min(offset + n, 4 * d + 4) - 4 * d;
    const u8 mask = static_cast<u8>((1u << hi) - (1u << lo));
    race_cell& c = L.cells[d];
    const bool after_write = c.writer != me && (c.write_mask & mask) && !ordered(L.sync, me, c.writer, c.write_epoch);
    if (after_write)
      found(w, i, lane, L.last.lo + 4 * d, write ? "two writes" : "a read after a write", c.writer, c.write_site);
    if (!write) {
      if (c.reader <= L.sync.base || c.reader == me || ordered(L.sync, me, c.reader, c.read_epoch))
        c.reader = me, c.read_site = site, c.read_epoch = epoch, c.read_mask = mask;
      else
        c.read_mask |= c.reader == me ? mask : 0;
      continue;
    }
    if (!after_write && c.reader != me && (c.read_mask & mask) && !ordered(L.sync, me, c.reader, c.read_epoch))
      found(w, i, lane, L.last.lo + 4 * d, "a write after a read", c.reader, c.read_site);
    const bool same = c.writer == me && c.write_epoch == epoch;
    c.writer = me, c.write_site = site, c.write_epoch = epoch;
    c.write_mask = same ? c.write_mask | mask : mask;
  }
}
}  // namespace emu
