// SPDX-License-Identifier: MIT
#include "findings.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <utility>

#include "buffers.hpp"
#include "source_lines.hpp"

namespace emu {
const char* name_of(finding_kind kind) {
  static constexpr const char* names[] = {
      "out-of-bounds", "use-after-free", "misaligned",        "uninitialised",      "missing-wait",
      "lds-race",      "global-race",    "divergent-barrier", "inactive-lane",      "trap",
      "stuck",         "invalid-call",   "in-flight",         "uninitialised-copy", "leak"};
  return names[static_cast<int>(kind)];
}
bool is_weak(finding_kind kind) { return kind >= finding_kind::in_flight; }

namespace {
std::string at(const dim3& d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}
std::string site_text(const code_site& s) {
  std::string r;
  for (std::size_t n = 0; n < s.frames.size(); ++n) {
    const source_frame& f = s.frames[n];
    std::string name = f.function.substr(0, 120);
    if (name.size() < f.function.size()) name += "...";
    r += "    " +
         std::string(f.called ? "called at "
                     : n      ? "inlined at "
                              : "at ") +
         f.file + ":" + std::to_string(f.line) + " in " + name + "\n";
  }
  if (!s.text.empty()) r += "    " + s.text + (s.where.empty() ? "" : "   [" + s.where.substr(0, 120) + "]") + "\n";
  return r;
}
}  // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  char* p = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string r = p ? p : name;
  std::free(p);
  return r;
}

std::string text_of(const finding& f) {
  std::string r = std::string(name_of(f.kind)) + ": " + f.message + "\n" + site_text(f.site);
  if (!f.kernel.empty()) {
    r += "    kernel " + f.kernel.substr(0, 160);
    if (f.wave != ~0u) {
      r += ", workgroup " + at(f.workgroup);
      if (f.lane >= 0) r += ", thread " + at(f.thread);
      r += ", wave " + std::to_string(f.wave);
      if (f.lane >= 0) r += ", lane " + std::to_string(f.lane);
    }
    r += "\n";
  }
  if (!f.memory.empty()) r += "    " + f.memory + "\n";
  if (!f.other_role.empty() && !f.other.text.empty()) r += "  " + f.other_role + ":\n" + site_text(f.other);
  if (f.count > 1) r += "    " + std::to_string(f.count) + " times\n";
  return r;
}

bool counted(wave& w, const inst& i, finding_kind kind) {
  auto [it, fresh] = w.launch->found.try_emplace({static_cast<int>(kind), i.address}, w.launch->res->findings.size());
  if (!fresh) ++w.launch->res->findings[it->second].count;
  return !fresh;
}
finding& add_finding(wave& w, const inst& i, finding_kind kind, const std::string& what, int lane, u64 address) {
  launch_state& L = *w.launch;
  finding f;
  f.kind = kind, f.message = what, f.kernel = L.kernel->name, f.site = site_of(L, L.site(i));
  f.workgroup = {w.wg->id[0], w.wg->id[1], w.wg->id[2]}, f.wave = w.id, f.lane = lane, f.address = address;
  for (auto call = w.calls.rbegin(); call != w.calls.rend(); ++call)
    for (bool called = true; source_frame frame : site_of(L, *call + 1).frames) {
      frame.called = std::exchange(called, false);
      f.site.frames.push_back(frame);
    }
  if (lane >= 0) {
    const u32 t = w.id * w.lanes + static_cast<u32>(lane);
    f.thread = {t % L.block.x, t / L.block.x % L.block.y, t / L.block.x / L.block.y};
  }
  if (address && L.mem)
    if (const buffer_state* b = L.mem->nearest(address)) f.memory = buffer_text(*b, address);
  L.res->findings.push_back(f);
  return L.res->findings.back();
}
void stop(wave& w, const inst& i, finding_kind kind, const std::string& what, int lane) {
  if (!w.launch->opt->collect) w.die(i, what, lane);
  if (!counted(w, i, kind)) add_finding(w, i, kind, what, lane, 0);
  throw launch_ended{};
}

code_site site_of(const launch_state& L, u32 site) {
  if (!site) return {};
  const inst& i = L.prog->code[site - 1];
  const auto lock = L.lock(L.shared->reports);
  return {L.co->where(i.address), i.text, L.co->frames(i.address)};
}
std::vector<finding> merged(const std::vector<launch_state>& threads, dim3 grid) {
  struct entry {
    u64 workgroup;
    std::size_t position;
    finding f;
  };
  std::map<std::pair<int, u64>, entry> first;
  for (const launch_state& L : threads)
    for (const auto& [key, n] : L.found) {
      const finding& f = L.res->findings[n];
      const u64 number = f.workgroup.x + u64{grid.x} * (f.workgroup.y + u64{grid.y} * f.workgroup.z);
      auto [it, fresh] = first.try_emplace(key, entry{number, n, f});
      if (fresh) continue;
      const u64 count = it->second.f.count + f.count;
      if (number < it->second.workgroup) it->second = {number, n, f};
      it->second.f.count = count;
    }
  std::vector<entry> sorted;
  for (const auto& [key, e] : first) sorted.push_back(e);
  std::sort(sorted.begin(), sorted.end(), [](const entry& a, const entry& b) {
    return std::pair(a.workgroup, a.position) < std::pair(b.workgroup, b.position);
  });
  std::vector<finding> r;
  for (const entry& e : sorted) r.push_back(e.f);
  return r;
}
void resolve(result& r, const launch_state& L) {
  const std::string kernel = demangled(L.kernel->name);
  for (finding& f : r.findings) f.kernel = kernel;
  if (L.opt->collect)
    for (lds_row& row : r.lds) row.frames = L.co->frames(row.address);
}
}  // namespace emu
