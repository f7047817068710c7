// SPDX-License-Identifier: MIT
// What checks report: one finding for each instruction and kind, or the first as a fault.
#pragma once

#include "state.hpp"

namespace emu {
/// Ends a launch whose finding says that it cannot go on.
struct launch_ended {};

/// Counts the finding where this instruction has one of this kind already.
bool counted(wave& w, const inst& i, finding_kind kind);
finding& add_finding(wave& w, const inst& i, finding_kind kind, const std::string& what, int lane, u64 address);
/// The findings of all threads: of each instruction and kind that of the first workgroup, in the order of workgroups.
std::vector<finding> merged(const std::vector<launch_state>& threads, dim3 grid);
/// Source positions and names of what a launch found.
void resolve(result& r, const launch_state& L);
code_site site_of(const launch_state& L, u32 site);  // 0: none

/// what(): the message. Throws a fault unless findings are collected.
template <class F>
finding* report(wave& w, const inst& i, finding_kind kind, F what, int lane = -1, u64 address = 0) {
  if (!w.launch->opt->collect) w.die(i, what(), lane);
  return counted(w, i, kind) ? nullptr : &add_finding(w, i, kind, what(), lane, address);
}
/// The same for what a wave cannot continue after.
[[noreturn]] void stop(wave& w, const inst& i, finding_kind kind, const std::string& what, int lane = -1);
}  // namespace emu
