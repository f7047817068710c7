// SPDX-License-Identifier: MIT
// A report of findings and bank conflicts: suppressions, a summary by source line, JSON, SARIF.
#pragma once

#include <amdgcn_emulator.hpp>

#include <map>
#include <string>
#include <vector>

namespace emu {
/// A line of a suppressions file: KIND KERNEL FILE:LINE, each with * for anything.
struct suppression {
  std::string kind, kernel, line;
  bool matches(const finding& f) const;
};
/// Throws std::runtime_error with the file's line that is not understood.
std::vector<suppression> read_suppressions(const std::string& path);

/// LDS instructions of one source line.
struct bank_line {
  std::string kernel, line, text, advice;
  bool store = false;
  std::uint64_t executions = 0, clocks = 0, ideal = 0, worst = 0;
};
/// What the launches of a kernel took.
struct kernel_time {
  std::uint64_t launches = 0, instructions = 0;  // of waves
  double user_seconds = 0;                       // of all threads
};
struct report_data {
  std::vector<finding> findings;
  std::map<std::string, kernel_time> times;  // by kernel
  std::vector<bank_line> banks;
  std::uint64_t suppressed = 0;
};
void add_banks(report_data& data, const std::string& kernel, const std::vector<lds_row>& rows);
std::string summary_of(const report_data& data, bool with_banks, unsigned most);
std::string times_of(const report_data& data);
std::string json_of(const report_data& data);
std::string sarif_of(const report_data& data);
}  // namespace emu
