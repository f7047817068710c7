// SPDX-License-Identifier: MIT
#include "source_lines.hpp"

#include <cstdio>
#include <cstdlib>

namespace emu {
std::vector<source_frame> source_lines(const std::string& object, u64 address) {
  std::string quoted = "'";
  for (char c : object) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  char number[32];
  std::snprintf(number, sizeof number, "0x%llx", static_cast<unsigned long long>(address));
  const char* env = std::getenv("AMDGCN_SYMBOLIZER");
  const std::string tool = env ? env : "$(command -v llvm-symbolizer-22 || command -v llvm-symbolizer || echo false)";
  FILE* f = popen(("LD_PRELOAD= " + tool + " --output-style=LLVM --inlines --demangle --obj=" + quoted + "' " + number +
                   " 2>/dev/null")
                      .c_str(),
                  "r");
  std::vector<source_frame> frames;
  if (!f) return frames;
  char buffer[65536];
  std::string lines[2];
  for (int n = 0; std::fgets(buffer, sizeof buffer, f);) {
    lines[n] = buffer;
    while (!lines[n].empty() && lines[n].back() == '\n') lines[n].pop_back();
    if (lines[n].empty() || (n ^= 1)) continue;
    const auto column = lines[1].rfind(':'), line = column == 0 ? column : lines[1].rfind(':', column - 1);
    if (line == std::string::npos || lines[1].compare(0, 2, "??") == 0) continue;
    const unsigned number_of_line = static_cast<unsigned>(std::strtoul(lines[1].c_str() + line + 1, nullptr, 10));
    if (number_of_line) frames.push_back({lines[0], lines[1].substr(0, line), number_of_line});
  }
  pclose(f);
  return frames;
}
}  // namespace emu
