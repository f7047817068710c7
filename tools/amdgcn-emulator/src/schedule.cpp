// SPDX-License-Identifier: MIT
// Executes the waves of a workgroup.
#include <cstdio>

#include "cycles.hpp"
#include "launch_setup.hpp"

namespace emu {
namespace {
// Runs one wave until it ends, reaches a barrier, or has used up its slice.
void run_wave(wave& w, u64 slice) {
  launch_state& L = *w.launch;
  const inst* code = L.prog->code.data();
  u64* counts = L.counts.empty() ? nullptr : L.counts.data();
  const bool waits = L.waits;
  std::vector<traced_inst>* trace =
      L.traces && w.wg->id[0] == 0 && w.wg->id[1] == 0 && w.wg->id[2] == 0 ? &(*L.traces)[w.id] : nullptr;
  for (u64 n = 0; n < slice && w.status == wave::running; ++n) {
    if (w.ip == ~0u)
      throw fault(L.kernel->name + ": execution ran out of the code object, wave " + std::to_string(w.id));
    const inst& i = code[w.ip];
    w.next = i.next;
    if (!i.fn) w.die(i, i.error.empty() ? "instruction not implemented" : i.error);
    if (L.trace_left > 0) {
      --L.trace_left;
      std::fprintf(stderr, "wg (%u,%u,%u) wave %u exec %016llx scc %u %-28s %s\n", w.wg->id[0], w.wg->id[1],
                   w.wg->id[2], w.id, static_cast<unsigned long long>(w.exec()), w.s[s_scc],
                   L.co->where(i.address).c_str(), i.text.c_str());
    }
    if (waits && !w.queue.empty()) check_waits(w, i);
    if (w.gpr_idx && i.mnemonic[0] == 'v' && i.mnemonic.rfind("v_mov_b32", 0))
      w.die(i, "only v_mov_b32 is implemented while s_set_gpr_idx is on");
    L.lds_phases = 0;
    i.fn(w, i);
    if (trace) trace->push_back({w.ip, L.lds_phases});
    if (counts) ++counts[w.ip];
    ++L.executed;
    w.ip = w.next;
  }
  if (L.executed > L.opt->limit)
    throw fault(L.kernel->name + ": more than " + std::to_string(L.opt->limit) +
                " instructions executed (endless loop?), wave " + std::to_string(w.id) + " at " +
                L.co->where(code[w.ip].address));
}
}  // namespace

bool step_workgroup(std::vector<wave>& waves, const options& o, std::mt19937_64& rng) {
  const std::size_t n = waves.size();
  std::vector<std::size_t> order(n);
  for (std::size_t k = 0; k < n; ++k) order[k] = o.order == options::reverse ? n - 1 - k : k;
  if (o.order == options::random) std::shuffle(order.begin(), order.end(), rng);
  const u64 slice = o.slice ? o.slice : o.order == options::random ? 64 : o.resident > 1 ? 1000 : 1'000'000;
  bool progress = false, alive = false;
  for (std::size_t k : order) {
    wave& w = waves[k];
    if (w.status == wave::running)
      run_wave(w, o.order == options::random ? 1 + rng() % (2 * slice) : slice), progress = true;
    alive |= w.status != wave::ended;
  }
  if (!alive) return false;
  // A barrier opens when every wave that has not ended has signalled it.
  u64 lowest = ~0ull;
  for (const wave& w : waves)
    if (w.status != wave::ended) lowest = std::min(lowest, w.signals);
  for (wave& w : waves)
    if (w.status == wave::at_barrier && lowest > w.waits_done)
      ++w.waits_done, w.status = wave::running, progress = true;
  if (!progress) {
    const wave& w =
        *std::find_if(waves.begin(), waves.end(), [](const wave& x) { return x.status == wave::at_barrier; });
    throw fault(w.launch->kernel->name + ": deadlock: wave " + std::to_string(w.id) +
                " waits at a barrier that not all waves have signalled");
  }
  return true;
}
}  // namespace emu
