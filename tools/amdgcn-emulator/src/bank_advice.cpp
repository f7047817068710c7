// SPDX-License-Identifier: MIT
// Suggests a layout of LDS without bank conflicts: rows padded, or 16-byte groups exchanged by XOR. A layout is tried
// on the addresses of one execution of every LDS instruction that shares bytes with one that has conflicts.
#include <numeric>

#include "report.hpp"

namespace emu {
namespace {
struct layout {
  u32 row = 0, pad = 0, groups = 0, group_bytes = 0;  // row: bytes; pad: bytes after each row; or groups exchanged
  u32 operator()(u32 a) const {
    if (pad) return a + a / row * pad;
    return a ^ a / row % groups * group_bytes;
  }
  std::string text() const {
    if (pad)
      return "pad rows of " + std::to_string(row) + " bytes to " + std::to_string(row + pad) +
             " bytes: address + address / " + std::to_string(row) + " * " + std::to_string(pad);
    return "exchange groups of " + std::to_string(group_bytes) + " bytes by XOR: address ^ (address / " +
           std::to_string(row) + " % " + std::to_string(groups) + ") * " + std::to_string(group_bytes);
  }
};
using samples = std::vector<std::pair<const lds_row*, const lds_sample*>>;

u32 span_begin(const lds_sample& s) {
  u32 lo = ~0u;
  for (u64 m = s.lanes; m; m &= m - 1) lo = std::min(lo, s.address[static_cast<u32>(std::countr_zero(m))]);
  return lo;
}
u32 span_end(const lds_row& r, const lds_sample& s) {
  u32 hi = 0;
  for (u64 m = s.lanes; m; m &= m - 1) hi = std::max(hi, s.address[static_cast<u32>(std::countr_zero(m))] + r.bytes);
  return hi;
}
/// Clocks of all samples, weighted by executions, under a layout (none: as they are).
u64 clocks(const lds_stats& stats, const samples& all, const layout* l) {
  u64 sum = 0;
  for (const auto& [row, s] : all) {
    std::array<u32, 64> a = s->address;
    for (u64 m = s->lanes; l && m; m &= m - 1)
      a[static_cast<u32>(std::countr_zero(m))] = (*l)(a[static_cast<u32>(std::countr_zero(m))]);
    sum += phase_clocks(stats.model(row->store, row->bytes), row->bytes, s->lanes, a.data()).clocks * row->executions;
  }
  return sum;
}
u64 ideal(const lds_stats& stats, const samples& all) {
  u64 sum = 0;
  for (const auto& [row, s] : all)
    sum += phase_clocks(stats.model(row->store, row->bytes), row->bytes, s->lanes, s->address.data()).phases *
           row->executions;
  return sum;
}
}  // namespace

void advise(lds_stats& stats) {
  for (auto& [key, row] : stats.rows) {
    if (row.conflicts == 0) continue;
    const lds_sample& mine = stats.samples[key];
    const u32 lo = span_begin(mine), hi = span_end(row, mine);
    samples all;
    u32 widest = 4;
    for (const auto& [other_key, other] : stats.rows) {
      const lds_sample& s = stats.samples[other_key];
      if (span_begin(s) >= hi || span_end(other, s) <= lo) continue;
      all.emplace_back(&other, &s), widest = std::max(widest, std::bit_ceil(other.bytes));
    }
    std::vector<layout> candidates;
    for (u32 bytes = 64; bytes <= 4096; bytes *= 2) {
      for (u32 pad = widest; pad <= 64; pad *= 2) candidates.push_back({bytes, pad, 0, 0});
      for (u32 groups = 2; groups <= 32 && groups * widest <= bytes; groups *= 2)
        candidates.push_back({bytes, 0, groups, widest});
    }
    const u64 now = clocks(stats, all, nullptr), best_possible = ideal(stats, all);
    u64 best = now;
    const layout* chosen = nullptr;
    for (const layout& l : candidates)
      if (const u64 c = clocks(stats, all, &l); c < best) best = c, chosen = &l;
    if (!chosen) continue;
    row.advice = chosen->text() + (best == best_possible ? ", which removes all conflicts of this array"
                                                         : ", which leaves " + std::to_string(100 * best / now) +
                                                               " % of this array's clocks");
  }
}
}  // namespace emu
