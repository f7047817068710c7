// SPDX-License-Identifier: MIT
// What tilewright-check reports of a program: findings, bank conflicts, and the files that they are written to.
// tilewright-check passes its options in TILEWRIGHT_CHECK, as lines of NAME=VALUE.
#include "state.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <tuple>

#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include "../src/report_files.hpp"
#include "../src/source_lines.hpp"

namespace emulated_hip {
namespace {
using emu::finding;

struct session {
  std::map<std::string, std::string> options;
  std::vector<emu::suppression> suppressions;
  emu::report_data data;
  std::map<emu::finding_kind, unsigned> printed;
  bool on = false;

  session() {
    const char* text = std::getenv("TILEWRIGHT_CHECK");
    if (!text) return;
    on = true;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      if (const auto equals = line.find('='); equals != line.npos)
        options[line.substr(0, equals)] = line.substr(equals + 1);
    if (const std::string file = option("suppressions"); !file.empty()) suppressions = emu::read_suppressions(file);
    if (std::ifstream old(option("status")); old) return;  // a process before this one
  }
  std::string option(const std::string& name) const {
    const auto o = options.find(name);
    return o == options.end() ? "" : o->second;
  }
  unsigned most() const { return option("max").empty() ? 5u : static_cast<unsigned>(std::stoul(option("max"))); }

  void status(const std::string& line) {
    if (FILE* f = std::fopen(option("status").c_str(), "a")) std::fprintf(f, "%s\n", line.c_str()), std::fclose(f);
  }
  void save() {
    if (!on) return;
    if (const std::string path = option("json"); !path.empty()) std::ofstream(path) << emu::json_of(data);
    if (const std::string path = option("sarif"); !path.empty()) std::ofstream(path) << emu::sarif_of(data);
    std::size_t hard = 0;
    for (const finding& f : data.findings) hard += !emu::is_weak(f.kind) || option("strict") == "1";
    status("findings " + std::to_string(hard));
  }
};
session& current() {
  static auto* const s = new session;
  return *s;
}

/// Source positions for the addresses in "<address,address>": the first one outside of HIP's own headers.
std::string with_call_sites(const std::string& text) {
  const auto open = text.find('<'), close = text.find('>', open);
  if (open == text.npos || close == text.npos) return text;
  std::istringstream addresses(text.substr(open + 1, close - open - 1));
  std::string site;
  for (std::string a; std::getline(addresses, a, ',') && site.empty();) {
    const auto plus = a.rfind('+');
    if (plus == a.npos) continue;
    for (const emu::source_frame& f :
         emu::source_lines(a.substr(0, plus), std::strtoull(a.c_str() + plus + 1, nullptr, 16)))
      if (f.file.find("/hip/") == f.file.npos && site.empty()) site = f.file + ":" + std::to_string(f.line);
  }
  std::string before = text.substr(0, open);
  while (!before.empty() && before.back() == ' ') before.pop_back();
  return with_call_sites(before + (site.empty() ? "" : " (" + site + ")") + text.substr(close + 1));
}
bool same(const finding& a, const finding& b) {
  return a.kind == b.kind && a.kernel == b.kernel && a.site.where == b.site.where &&
         (!a.site.where.empty() || a.message == b.message);
}
void print(const finding& f) {
  session& s = current();
  if (s.printed[f.kind]++ < s.most()) std::fprintf(stderr, "tilewright-check: %s\n", emu::text_of(f).c_str());
}
void finish() {
  session& s = current();
  if (!s.on) return;
  std::vector<finding> leaks;
  for (const emu::memory::buffer& b : runtime().memory.live()) {
    if (b.label.starts_with("a managed variable")) continue;
    finding f;
    f.kind = emu::finding_kind::leak, f.wave = ~0u;
    f.message = std::to_string(b.bytes) + " bytes are never freed: " + b.label;
    leaks.push_back(f);
  }
  found(leaks);
  s.save();
  if (s.option("time") == "1") std::fprintf(stderr, "%s", emu::times_of(s.data).c_str());
  std::fprintf(stderr, "%s", emu::summary_of(s.data, s.option("banks") == "1", s.most()).c_str());
  s.status("end");
}
struct at_exit {
  at_exit() {
    if (current().on) current().status("start"), std::atexit(finish);
  }
} at_exit_;
}  // namespace

namespace {
unsigned option_number(const std::string& text) { return text.empty() ? 0 : static_cast<unsigned>(std::stoul(text)); }
}  // namespace

bool checking() { return current().on; }

void set_check_options(emu::options& o) {
  const session& s = current();
  if (!s.on) return;
  o.collect = true;
  o.lds_log = s.option("banks") == "1";
  const std::string off = "," + s.option("off") + ",";
  const auto without = [&](const char* name) { return off.find("," + std::string(name) + ",") != off.npos; };
  o.race = !without("lds-race"), o.waits = !without("missing-wait"), o.uninitialised = !without("uninitialised");
  o.global_races = !without("global-race"), o.bounds = !without("out-of-bounds");
  o.threads = option_number(s.option("threads"));
  if (const std::string limit = s.option("limit"); !limit.empty()) o.limit = std::stoull(limit);
  const std::string order = s.option("order");
  if (order == "reverse") o.order = emu::options::reverse;
  if (order.starts_with("random"))
    o.order = emu::options::random, o.seed = order.size() > 7 ? std::stoull(order.substr(7)) : 1;
}

std::string call_site() {
  if (!checking()) return "";
  void* frames[8];
  const int n = backtrace(frames, 8);
  char** const names = backtrace_symbols(frames, n);
  std::string text;
  // Each line: file(+0xOFFSET) [address]; the first frames are of this library.
  for (int k = 0; k < n && names; ++k) {
    const std::string line = names[k];
    const auto open = line.find('('), close = line.find(')'), plus = line.find('+', open);
    if (open == line.npos || plus == line.npos || plus > close) continue;
    const std::string file = line.substr(0, open);
    if (file.find("tilewright_check") != file.npos || file.find("libamdhip64") != file.npos ||
        file.find("libc.so") != file.npos)
      continue;
    Dl_info info;
    if (!dladdr(frames[k], &info) || !info.dli_fbase) continue;
    char at[40];
    std::snprintf(at, sizeof at, "+0x%lx",
                  static_cast<unsigned long>(static_cast<char*>(frames[k]) - static_cast<char*>(info.dli_fbase) - 1));
    text += (text.empty() ? " <" : ",") + file + at;
  }
  std::free(names);
  return text.empty() ? "" : text + ">";
}

void found(std::vector<finding> findings) {
  session& s = current();
  if (!s.on || findings.empty()) return;
  for (finding& f : findings) {
    f.message = with_call_sites(f.message), f.memory = with_call_sites(f.memory);
    if (f.site.frames.empty()) f.site.where = with_call_sites(f.site.where);
    if (std::any_of(s.suppressions.begin(), s.suppressions.end(),
                    [&](const emu::suppression& x) { return x.matches(f); })) {
      ++s.data.suppressed;
      continue;
    }
    const auto old =
        std::find_if(s.data.findings.begin(), s.data.findings.end(), [&](const finding& x) { return same(x, f); });
    if (old != s.data.findings.end()) {
      old->count += f.count;
      continue;
    }
    s.data.findings.push_back(f);
    if (!emu::is_weak(f.kind) || s.option("strict") == "1") print(f);
  }
  s.save();
}
void found_in_call(emu::finding_kind kind, const std::string& call, const std::string& message, const void* address) {
  if (!checking()) return;
  finding f;
  f.kind = kind, f.message = call + ": " + message + call_site(), f.site.text = call, f.wave = ~0u;
  f.address = reinterpret_cast<std::uint64_t>(address);
  if (address) f.memory = runtime().memory.describe(f.address);
  if (f.memory.find("freed") != f.memory.npos && kind == emu::finding_kind::out_of_bounds)
    f.kind = emu::finding_kind::use_after_free;
  found({f});
}
void found_banks(const std::string& kernel, const std::vector<emu::lds_row>& rows) {
  emu::add_banks(current().data, emu::demangled(kernel), rows);
}
void timed(const std::string& kernel, const emu::result& r) {
  emu::kernel_time& t = current().data.times[emu::demangled(kernel)];
  ++t.launches, t.instructions += r.instructions, t.user_seconds += r.user_seconds;
}
void note_cannot_run(const std::string& sentence) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: cannot run: %s\n", checking() ? "tilewright-check" : "amdgcn-emulator", sentence.c_str());
  if (checking()) current().status("cannot-run " + sentence);
}
void cannot_run(const std::string& sentence) {
  note_cannot_run(sentence);
  current().save();
  _exit(2);
}
}  // namespace emulated_hip
