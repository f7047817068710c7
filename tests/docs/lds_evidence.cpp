// SPDX-License-Identifier: MIT
// Prints docs/lab/lds_evidence.md's table: what is published about LDS, and whether the library's tables agree.
#include "../core/arch/published_lds.hpp"

#include <cstdio>

int main() {
  using namespace tilewright::published;
  std::printf(
      "| source | target | instruction | figure | published | tables | grade |\n|---|---|---|---|---|---|---|\n");
  for (const lds_row& row : read_rows(TILEWRIGHT_PUBLISHED_LDS)) {
    const verdict v = compare(row);
    std::printf("| %s | %s | %s | %s | %s | %s | %s |\n", row.source.c_str(), row.target.c_str(),
                row.instruction == "-" ? "" : ("`" + row.instruction + "`").c_str(), row.figure.c_str(),
                row.value.c_str(), row.note.empty() ? v.text.c_str() : row.note.c_str(), v.grade.c_str());
  }
}
