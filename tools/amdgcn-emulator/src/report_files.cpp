// SPDX-License-Identifier: MIT
#include "report_files.hpp"

#include <fnmatch.h>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace emu {
namespace {
/// The innermost frame outside of HIP's own headers, where there is one: what the program's author wrote.
const source_frame& own_frame(const std::vector<source_frame>& frames) {
  for (const source_frame& f : frames)
    if (f.file.find("/hip/") == f.file.npos) return f;
  return frames[0];
}
std::string line_of(const std::vector<source_frame>& frames) {
  if (frames.empty()) return "";
  const source_frame& f = own_frame(frames);
  return f.file + ":" + std::to_string(f.line);
}
/// The line of the source, else the position in the code.
std::string place_of(const finding& f) {
  if (!f.site.frames.empty()) return line_of(f.site.frames);
  return !f.site.where.empty() ? f.site.where : f.site.text;
}
bool fits(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::string quoted(const std::string& s) {
  std::string r = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\')
      r += '\\', r += c;
    else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      r += code;
    } else {
      r += c;
    }
  }
  return r + "\"";
}
std::string triple(const dim3& d) {
  return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}
std::string json_site(const code_site& s) {
  std::string r = "{\"position\":" + quoted(s.where) + ",\"instruction\":" + quoted(s.text) + ",\"frames\":[";
  for (std::size_t n = 0; n < s.frames.size(); ++n)
    r += std::string(n ? "," : "") + "{\"file\":" + quoted(s.frames[n].file) +
         ",\"line\":" + std::to_string(s.frames[n].line) + ",\"function\":" + quoted(s.frames[n].function) + "}";
  return r + "]}";
}
std::string sarif_location(const code_site& s) {
  if (s.frames.empty()) return "";
  const source_frame& f = own_frame(s.frames);
  return "{\"physicalLocation\":{\"artifactLocation\":{\"uri\":" + quoted(f.file) +
         "},\"region\":{\"startLine\":" + std::to_string(f.line) + "}}}";
}
}  // namespace

bool suppression::matches(const finding& f) const {
  if (!fits(kind, name_of(f.kind)) || !fits(kernel, f.kernel)) return false;
  if (line == "*") return true;
  return std::any_of(f.site.frames.begin(), f.site.frames.end(), [&](const source_frame& s) {
    const std::string at = s.file + ":" + std::to_string(s.line);
    return fits(line, at) || fits("*/" + line, at);
  });
}
std::vector<suppression> read_suppressions(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot open the suppressions '" + path + "'");
  std::vector<suppression> r;
  for (std::string text; std::getline(in, text);) {
    text = text.substr(0, text.find('#'));
    std::istringstream words(text);
    suppression s{"", "*", "*"};
    if (!(words >> s.kind)) continue;
    words >> s.kernel >> s.line;
    std::string rest;
    bool known = false;
    for (int k = 0; k <= static_cast<int>(finding_kind::leak); ++k)
      known |= fits(s.kind, name_of(static_cast<finding_kind>(k)));
    if (!known || words >> rest)
      throw std::runtime_error("'" + path + "': not a suppression (KIND KERNEL FILE:LINE): " + text);
    r.push_back(s);
  }
  return r;
}

void add_banks(report_data& data, const std::string& kernel, const std::vector<lds_row>& rows) {
  for (const lds_row& row : rows) {
    const std::string line = row.frames.empty() ? row.where : line_of(row.frames);
    auto it = std::find_if(data.banks.begin(), data.banks.end(), [&](const bank_line& b) {
      return b.kernel == kernel && b.line == line && b.store == row.store;
    });
    if (it == data.banks.end()) it = data.banks.insert(it, {kernel, line, row.text, "", row.store});
    it->executions += row.executions, it->clocks += row.cycles, it->ideal += row.ideal;
    it->worst = std::max(it->worst, row.worst);
    if (!row.advice.empty()) it->advice = row.advice;
  }
}

std::string times_of(const report_data& data) {
  std::ostringstream out;
  for (const auto& [kernel, t] : data.times) {
    char numbers[200];
    std::snprintf(
        numbers, sizeof numbers,
        "tilewright-check: %llu launches, %llu wave instructions, %.2f s of user time, %.2f million per second: ",
        static_cast<unsigned long long>(t.launches), static_cast<unsigned long long>(t.instructions), t.user_seconds,
        static_cast<double>(t.instructions) / std::max(t.user_seconds, 1e-6) / 1e6);
    out << numbers << kernel.substr(0, 80) << "\n";
  }
  return out.str();
}
std::string summary_of(const report_data& data, bool with_banks, unsigned most) {
  std::ostringstream out;
  std::size_t hard = 0, weak = 0;
  bool lines = true;
  for (const finding& f : data.findings)
    ++(is_weak(f.kind) ? weak : hard), lines &= f.site.where.empty() || !f.site.frames.empty();
  if (with_banks) {
    std::map<std::string, std::uint64_t> total;
    for (const bank_line& b : data.banks) total[b.kernel] += b.clocks;
    std::vector<bank_line> sorted = data.banks;
    std::sort(sorted.begin(), sorted.end(), [](const bank_line& a, const bank_line& b) {
      return std::pair(a.clocks - a.ideal, b.line) > std::pair(b.clocks - b.ideal, a.line);
    });
    out << "tilewright-check: LDS (shared memory) by source line: executions, clocks, clocks without conflicts, worst "
           "degree, share of the kernel's LDS clocks\n";
    for (const bank_line& b : sorted) {
      char numbers[160];
      std::snprintf(
          numbers, sizeof numbers, "%10llu %10llu %10llu %4llu %4.0f%%  ",
          static_cast<unsigned long long>(b.executions), static_cast<unsigned long long>(b.clocks),
          static_cast<unsigned long long>(b.ideal), static_cast<unsigned long long>(b.worst),
          100.0 * static_cast<double>(b.clocks) / static_cast<double>(std::max<std::uint64_t>(total[b.kernel], 1)));
      out << numbers << (b.store ? "store " : "load  ") << b.line << " in " << b.kernel.substr(0, 80) << "\n";
      if (b.clocks > b.ideal && !b.advice.empty()) out << "      " << b.advice << "\n";
    }
    if (sorted.empty()) out << "  no kernel accessed LDS\n";
  }
  if (!data.findings.empty()) out << "tilewright-check: by source line:\n";
  std::map<std::string, unsigned> of_kind;
  std::map<std::pair<std::string, std::string>, std::uint64_t> by_line;
  for (const finding& f : data.findings)
    by_line[{std::string(name_of(f.kind)) + (is_weak(f.kind) ? " (weak)" : ""),
             f.site.where.empty() ? f.message : place_of(f)}] += f.count;
  for (const auto& [key, count] : by_line) {
    const unsigned n = ++of_kind[key.first];
    if (n <= most) out << "  " << key.first << "  " << count << "  " << key.second << "\n";
    if (n == most + 1) out << "  more of " << key.first << " are in the JSON and SARIF files\n";
  }
  if (!lines) out << "tilewright-check: compile with -g to see source lines\n";
  out << "tilewright-check: " << hard << " findings";
  if (weak) out << ", " << weak << " weak ones (they count with --strict)";
  if (data.suppressed) out << ", " << data.suppressed << " suppressed";
  out << "\n";
  return out.str();
}

std::string json_of(const report_data& data) {
  std::string r = "{\"version\":1,\"suppressed\":" + std::to_string(data.suppressed) + ",\"findings\":[";
  for (std::size_t n = 0; n < data.findings.size(); ++n) {
    const finding& f = data.findings[n];
    r += std::string(n ? ",\n" : "\n") + "{\"kind\":" + quoted(name_of(f.kind)) +
         ",\"weak\":" + (is_weak(f.kind) ? "true" : "false") + ",\"count\":" + std::to_string(f.count) +
         ",\"message\":" + quoted(f.message) + ",\"kernel\":" + quoted(f.kernel) + ",\"site\":" + json_site(f.site) +
         ",\"other\":" + json_site(f.other) + ",\"other_role\":" + quoted(f.other_role) +
         ",\"workgroup\":" + triple(f.workgroup) + ",\"thread\":" + triple(f.thread) +
         ",\"lane\":" + std::to_string(f.lane) + ",\"address\":" + std::to_string(f.address) +
         ",\"memory\":" + quoted(f.memory) + "}";
  }
  r += "],\n\"banks\":[";
  for (std::size_t n = 0; n < data.banks.size(); ++n) {
    const bank_line& b = data.banks[n];
    r += std::string(n ? ",\n" : "\n") + "{\"kernel\":" + quoted(b.kernel) + ",\"line\":" + quoted(b.line) +
         ",\"store\":" + (b.store ? "true" : "false") + ",\"executions\":" + std::to_string(b.executions) +
         ",\"clocks\":" + std::to_string(b.clocks) + ",\"ideal\":" + std::to_string(b.ideal) +
         ",\"worst\":" + std::to_string(b.worst) + ",\"advice\":" + quoted(b.advice) + "}";
  }
  return r + "]}\n";
}
std::string sarif_of(const report_data& data) {
  std::string r =
      "{\"$schema\":\"https://json.schemastore.org/"
      "sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":"
      "\"tilewright-check\",\"rules\":[";
  for (int k = 0; k <= static_cast<int>(finding_kind::leak); ++k)
    r += std::string(k ? "," : "") + "{\"id\":" + quoted(name_of(static_cast<finding_kind>(k))) + "}";
  r += "]}},\"results\":[";
  for (std::size_t n = 0; n < data.findings.size(); ++n) {
    const finding& f = data.findings[n];
    const std::string at = sarif_location(f.site), other = sarif_location(f.other);
    r += std::string(n ? ",\n" : "\n") + "{\"ruleId\":" + quoted(name_of(f.kind)) + ",\"level\":\"" +
         (is_weak(f.kind) ? "note" : "error") +
         "\",\"message\":{\"text\":" + quoted(f.message + (f.kernel.empty() ? "" : " (kernel " + f.kernel + ")")) +
         "}" + (at.empty() ? "" : ",\"locations\":[" + at + "]") +
         (other.empty() ? "" : ",\"relatedLocations\":[" + other + "]") + "}";
  }
  return r + "]}]}\n";
}
}  // namespace emu
