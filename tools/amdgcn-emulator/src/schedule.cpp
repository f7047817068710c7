// SPDX-License-Identifier: MIT
// Executes the waves of a workgroup.
#include <cstdio>

#include "cycles.hpp"
#include "findings.hpp"
#include "launch_setup.hpp"

namespace emu {
namespace {
// Threads that were not active at the latest barrier go on after it.
void lanes_return(wave& w) {
  const u64 lanes = w.exec() & w.skipped;
  w.skipped = 0;
  report(
      w, w.launch->prog->code[w.barrier], finding_kind::divergent_barrier,
      [&] {
        return std::to_string(std::popcount(lanes)) + " of the wave's " + std::to_string(std::popcount(w.started)) +
               " threads did not reach this barrier, and go on after it";
      },
      std::countr_zero(lanes));
}
// Runs one wave until it ends, reaches a barrier, or has used up its slice.
void run_wave(wave& w, u64 slice) {
  launch_state& L = *w.launch;
  const inst* code = L.prog->code.data();
  u64* counts = L.counts.empty() ? nullptr : L.counts.data();
  const bool waits = L.waits, follows = L.follow;
  std::vector<traced_inst>* trace =
      L.traces && w.wg->id[0] == 0 && w.wg->id[1] == 0 && w.wg->id[2] == 0 ? &(*L.traces)[w.id] : nullptr;
  w.yield = false;
  const u64 before = L.executed;
  for (u64 n = 0; n < slice && w.status == wave::running && !w.yield; ++n) {
    if (w.ip == ~0u)
      throw fault(L.kernel->name + ": execution ran out of the code object, wave " + std::to_string(w.id));
    const inst& i = code[w.ip];
    w.next = i.next;
    if (!i.fn) w.refuse(i, i.error.empty() ? "instruction not implemented" : i.error);
    if (L.trace_left > 0) {
      --L.trace_left;
      std::fprintf(stderr, "wg (%u,%u,%u) wave %u exec %016llx scc %u %-28s %s\n", w.wg->id[0], w.wg->id[1],
                   w.wg->id[2], w.id, static_cast<unsigned long long>(w.exec()), w.s[s_scc],
                   L.co->where(i.address).c_str(), i.text.c_str());
    }
    if (waits && w.busy.any()) check_waits(w, i);
    if (w.gpr_idx && i.mnemonic[0] == 'v' && i.mnemonic.rfind("v_mov_b32", 0))
      w.refuse(i, "only v_mov_b32 is implemented while s_set_gpr_idx is on");
    if (follows) follow(w, i);
    if (w.skipped && i.shared && (w.exec() & w.skipped)) lanes_return(w);
    L.lds_phases = 0;
    i.fn(w, i);
    if (trace) trace->push_back({w.ip, L.lds_phases});
    if (counts) ++counts[w.ip];
    ++L.executed;
    w.ip = w.next;
  }
  if ((L.shared->executed += L.executed - before) <= L.opt->limit) return;
  const std::string what = "more than " + std::to_string(L.opt->limit) + " instructions executed (endless loop?)";
  if (L.opt->collect && w.ip != ~0u) stop(w, code[w.ip], finding_kind::stuck, what);
  throw fault(L.kernel->name + ": " + what + ", wave " + std::to_string(w.id) + " at " +
              L.co->where(code[w.ip].address));
}
// Whether the source has the barrier as one of the whole workgroup. What calls the builtin itself may count on waves.
bool is_syncthreads(const code_site& s) {
  return std::any_of(s.frames.begin(), s.frames.end(), [](const source_frame& f) {
    return f.function.find("__syncthreads") != f.function.npos || f.function.find("group_barrier") != f.function.npos;
  });
}
// Waves of a workgroup wait at different barriers of the source.
void check_barrier(std::vector<wave>& waves) {
  wave* first = nullptr;
  for (wave& w : waves) {
    if (w.status != wave::at_barrier) continue;
    if (!first) first = &w;
    if (w.barrier == first->barrier) continue;
    launch_state& L = *w.launch;
    const inst& here = L.prog->code[w.barrier];
    if (const auto lock = L.lock(L.shared->reports); !L.shared->compared.insert({w.barrier, first->barrier}).second)
      continue;
    const code_site a = site_of(L, first->barrier + 1), b = site_of(L, w.barrier + 1);
    if (!is_syncthreads(a) || !is_syncthreads(b) || a.frames.back().line == b.frames.back().line) continue;
    finding* f = report(w, here, finding_kind::divergent_barrier, [&] {
      return "wave " + std::to_string(w.id) + " waits at this barrier, wave " + std::to_string(first->id) +
             " of the same workgroup at another one";
    });
    if (f) f->other = a, f->other_role = "the other barrier";
    return;
  }
}
}  // namespace

namespace {
// The barriers that all waves which have not ended have passed.
u64 passed_by_all(const std::vector<wave>& waves) {
  u64 epoch = ~0ull;
  for (const wave& w : waves)
    if (w.status != wave::ended) epoch = std::min(epoch, w.waits_done);
  return epoch;
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
  if (waves[0].launch->opt->collect) check_barrier(waves);
  // A barrier opens when every wave that has not ended has signalled it.
  u64 lowest = ~0ull;
  for (const wave& w : waves)
    if (w.status != wave::ended) lowest = std::min(lowest, w.signals);
  for (wave& w : waves)
    if (w.status == wave::at_barrier && lowest > w.waits_done)
      ++w.waits_done, w.status = wave::running, progress = true;
  for (wave& w : waves)
    if (w.status == wave::at_grid_barrier) {
      progress = true;  // of other workgroups, else block_workgroup ends the launch
      if (grid_barrier_opened(w)) w.status = wave::running;
    }
  if (waves[0].launch->race) waves[0].wg->window.pass(passed_by_all(waves));
  if (!progress) {
    const wave& w =
        *std::find_if(waves.begin(), waves.end(), [](const wave& x) { return x.status == wave::at_barrier; });
    if (o.collect && w.ip != ~0u && w.ip)
      stop(const_cast<wave&>(w), w.launch->prog->code[w.ip - 1], finding_kind::divergent_barrier,
           "deadlock: this wave waits at a barrier that not all waves reach");
    throw fault(w.launch->kernel->name + ": deadlock: wave " + std::to_string(w.id) +
                " waits at a barrier that not all waves have signalled");
  }
  return true;
}
}  // namespace emu
