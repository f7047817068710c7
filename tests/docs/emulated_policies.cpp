// SPDX-License-Identifier: MIT
// Prints which policies the emulator runs on which targets, as a table in Markdown.
#include "../device/policies.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <cstdio>

int main() {
  using namespace tilewright::arch;
  using tilewright::index_t;
  std::printf("| policy | |");
  for (const target* t : amd_targets::values) std::printf(" %s |", t->name);
  std::printf("\n|---|---|");
  for (index_t i = 0; i < amd_targets::values.size(); ++i) std::printf("---|");
  std::printf("\n");
  const auto row = [&](const char* name, bool (*has)(const target&), const char* what) {
    std::printf("| `%s` | %s |", name, what);
    for (const target* t : amd_targets::values) std::printf(" %s |", has(*t) ? "yes" : "");
    std::printf("\n");
  };
#define ROW(name, targets, what) row(#name, policies::targets, what);
  TILEWRIGHT_TEST_POLICIES(ROW)
}
