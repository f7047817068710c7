// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <fstream>
#include <sstream>

#include "memory.hpp"

namespace emu {
namespace {
const char builtin_phases[] =
#include "../data/lds_phases.inc"
    ;

u64 lane_list(const std::string& s) {
  u64 m = 0;
  std::istringstream in(s);
  for (std::string part; std::getline(in, part, ',');) {
    const auto dash = part.find('-');
    const int a = std::stoi(part), b = dash == part.npos ? a : std::stoi(part.substr(dash + 1));
    for (int l = a; l <= b && l < 64; ++l) m |= 1ull << l;
  }
  return m;
}
}  // namespace

lds_stats::lds_stats(const std::string& target, u32 lanes, const std::string& path) {
  std::string text = builtin_phases;
  if (!path.empty()) {
    std::ifstream f(path);
    if (!f) throw std::runtime_error("cannot open the phase table '" + path + "'");
    text.assign((std::istreambuf_iterator<char>(f)), {});
  }
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string arch, rw, width;
    phase_model m;
    if (!(words >> arch >> rw >> width >> m.banks) || arch[0] == '#' || target.rfind(arch, 0)) continue;
    std::string w, grade;
    bool repeat = false;
    while (words >> w) {
      if (w == "seq") {
        u32 n = 0;
        words >> n;
        if (!n) throw std::runtime_error("phase table: 'seq' needs a number: " + line);
        for (u32 l = 0; l < lanes; l += n) m.groups.push_back((n >= 64 ? ~0ull : ((1ull << n) - 1)) << l);
      } else if (w == "+32")
        repeat = true;
      else if (w != "|" && w[0] >= '0' && w[0] <= '9')
        m.groups.push_back(lane_list(w));
      else if (w != "|")
        grade = w;
    }
    if (repeat && lanes == 64)
      for (std::size_t k = 0, n = m.groups.size(); k < n; ++k) m.groups.push_back(m.groups[k] << 32);
    if (m.groups.empty() || !m.banks || width.size() < 2)
      throw std::runtime_error("phase table: line not understood: " + line);
    m.text = arch + " " + rw + " " + width + " (" + grade + ")";
    models_[{rw == "write", static_cast<u32>(std::stoi(width.substr(1))) / 8}] = m;
  }
}
const phase_model& lds_stats::model(bool store, u32 bytes) const {
  auto it = models_.find({store, std::max(bytes, 4u)});
  if (it == models_.end())
    throw std::runtime_error("the phase table has no line for a " + std::to_string(8 * bytes) + "-bit LDS " +
                             (store ? "write" : "read"));
  return it->second;
}

phase_cost phase_clocks(const phase_model& m, u32 bytes, u64 lanes, const u32* addr) {
  phase_cost cost;
  u32 dwords[64 * 5];
  for (u64 g : m.groups) {
    u32 n = 0;
    for (u64 k = lanes & g; k; k &= k - 1) {
      const u32 a = addr[std::countr_zero(k)];
      for (u32 d = a / 4; d <= (a + bytes - 1) / 4; ++d) dwords[n++] = d;
    }
    if (!n) continue;
    std::sort(dwords, dwords + n);
    const u32 distinct = static_cast<u32>(std::unique(dwords, dwords + n) - dwords);
    cost.same_dword += n - distinct;
    u32 load[256] = {}, degree = 0;
    for (u32 k = 0; k < distinct; ++k) degree = std::max(degree, ++load[dwords[k] % m.banks & 255]);
    cost.clocks += degree, ++cost.phases;
    cost.worst = std::max<u64>(cost.worst, degree);
  }
  return cost;
}

void log_lds(wave& w, const inst& i, int which, bool store, u32 bytes, u64 lanes, const u32* addr) {
  lds_stats& st = *w.launch->stats;
  const phase_model& m = st.model(store, bytes);
  lds_row& r = st.rows[{i.address, which}];
  if (!r.executions) {
    r.address = i.address, r.where = w.launch->co->where(i.address), r.text = i.text, r.model = m.text, r.store = store,
    r.bytes = bytes;
    if (i.two) r.text += which ? " [second]" : " [first]";
    if (i.lds) r.text += " [to LDS]";
  }
  if (!r.executions) {
    lds_sample& sample = st.samples[{i.address, which}];
    sample.lanes = lanes;
    for (u64 k = lanes; k; k &= k - 1)
      sample.address[static_cast<u32>(std::countr_zero(k))] = addr[std::countr_zero(k)];
  }
  ++r.executions;
  const phase_cost c = phase_clocks(m, bytes, lanes, addr);
  w.launch->lds_phases += c.clocks;
  r.cycles += c.clocks, r.ideal += c.phases, r.conflicts += c.clocks - c.phases;
  r.worst = std::max<u64>(r.worst, c.worst);
  if (store && bytes >= 4) r.same_dword_writes += c.same_dword;
}
}  // namespace emu
