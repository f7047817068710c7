// SPDX-License-Identifier: MIT
// Prints the LDS tables of every target as docs/lds.md shows them.
#include <tilewright/core/arch/arch.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace tilewright;
using namespace tilewright::arch;

/// "0-3,20-23" for the lanes in a mask.
std::string text_of(unsigned long long lanes) {
  std::string text;
  for (int lane = 0; lane < 64; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    int last = lane;
    while (last < 63 && lanes >> (last + 1) & 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(lane);
    if (last > lane) text.append("-").append(std::to_string(last));
    lane = last;
  }
  return text;
}

bool is_contiguous(const lds_phases& phases) {
  return phases == contiguous_phases(phases.wave_size, phases.lanes_per_phase);
}

/// "4 x 16": four phases of 16 lanes. A star: they are not neighbours.
std::string text_of(const lds_phases& phases) {
  return std::to_string(phases.num_phases()) + (is_contiguous(phases) ? " x " : " x* ") +
         std::to_string(phases.lanes_per_phase);
}

/// "2 x 32 / 32 M": the phases, the banks, the grade; both readings where sources disagree.
std::string cell(const target& t, lds_op op) {
  const lds_instruction* row = t.find(op);
  if (row == nullptr) return "-";
  std::string text;
  for (const lds_service& s : row->readings) {
    const bool same_phases = &s != row->readings.begin() && s.phases == row->readings[0].phases;
    text += (text.empty() ? "" : " or ") + (same_phases ? "" : text_of(s.phases) + " / ") + std::to_string(s.banks) +
            " " + letter(s.known_by);
  }
  return text;
}

void print_row(const std::string& first, const std::vector<std::string>& others) {
  std::printf("| %s |", first.c_str());
  for (const std::string& text : others) std::printf(" %s |", text.c_str());
  std::printf("\n");
}

void print_service(instruction_set names, const std::vector<const target*>& targets) {
  std::vector<std::string> cells;
  for (const target* t : targets) cells.push_back(t->name);
  print_row("instruction", cells);
  print_row("---", std::vector<std::string>(targets.size(), "---"));
  for (index_t op = 0; op < num_lds_ops; ++op) {
    const char* name = instruction_name(names, static_cast<lds_op>(op));
    if (*name == '\0') continue;
    cells.clear();
    for (const target* t : targets) cells.push_back(cell(*t, static_cast<lds_op>(op)));
    print_row(std::string("`") + name + "`", cells);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("| target | wave | LDS of a block | granule | known by |\n|---|---|---|---|---|\n");
  for (const target* t : all_targets)
    std::printf("| %s | %d | %d KiB | %d B | %c: %s |\n", t->name, t->wave_size, t->lds_bytes / 1024, t->lds_granule,
                letter(t->lds_size_known_by), t->lds_size_source);
  std::printf("\n");

  std::vector<const target*> amd, nvidia;
  for (const target* t : all_targets) (is_amd(*t) ? amd : nvidia).push_back(t);
  print_service(instruction_set::cdna, amd);
  print_service(instruction_set::ptx, nvidia);

  std::map<std::string, std::string> starred;
  std::map<std::string, std::map<std::string, std::string>> sourced;  // source, target, instructions
  for (const target* t : all_targets)
    for (const lds_instruction& row : t->lds)
      for (const lds_service& s : row.readings) {
        std::string& names = sourced[letter(s.known_by) + std::string(": ") + s.source][t->name];
        names += (names.empty() ? "`" : ", `") + std::string(instruction_name(*t, row.op)) + "`";
        if (is_contiguous(s.phases)) continue;
        std::string phases;
        for (index_t p = 0; p < 32 / s.phases.lanes_per_phase; ++p)
          phases.append(p > 0 ? " {" : "{").append(text_of(s.phases.lanes_of(p))).append("}");
        starred[text_of(s.phases)] = phases + (t->wave_size == 64 ? " and the same from lane 32 on" : "");
      }
  print_row("phases", {"lanes"});
  print_row("---", {"---"});
  for (const auto& [name, lanes] : starred) print_row(name, {lanes});
  std::printf("\n");
  print_row("known by", {"rows"});
  print_row("---", {"---"});
  for (const auto& [source, of_target] : sourced) {
    std::string rows;
    for (const auto& [name, instructions] : of_target) rows += (rows.empty() ? "" : "; ") + name + ": " + instructions;
    print_row(source, {rows});
  }
}
