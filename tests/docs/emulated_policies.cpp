// SPDX-License-Identifier: MIT
// Prints which policies the emulator runs on which targets, as a table in Markdown.
#include "../device/policies.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <cstdio>

int main() {
  using namespace tilewright::arch;
  const target targets[] = {gfx90a::value, gfx942::value, gfx950::value, gfx1100::value, gfx1201::value};
  std::printf("| policy | |");
  for (const target& t : targets) std::printf(" %s |", t.name);
  std::printf("\n|---|---|---|---|---|---|---|\n");
  const auto row = [&](const char* name, bool (*has)(const target&), const char* what) {
    std::printf("| `%s` | %s |", name, what);
    for (const target& t : targets) std::printf(" %s |", has(t) ? "yes" : "");
    std::printf("\n");
  };
#define ROW(name, targets, what) row(#name, policies::targets, what);
  TILEWRIGHT_TEST_POLICIES(ROW)
}
