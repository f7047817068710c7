// SPDX-License-Identifier: MIT
// What lds_probe prints of an instruction: for people, as a row for a target's table, and as JSON.
#pragma once

#include "phase_finder.hpp"

#include <cstdio>

namespace lds_probe {

/// What the library's table says of the instruction.
struct comparison {
  bool agrees = false;  // with one of the row's readings
  std::string known_by;
};

inline comparison compare(const finding& found, const arch::lds_instruction& row) {
  comparison result;
  for (const arch::lds_service& reading : row.readings) {
    if (found.problem.empty() && agrees(found, reading)) result.agrees = true;
    result.known_by +=
        (result.known_by.empty() ? "" : ", ") + std::string(1, arch::letter(reading.known_by)) + ": " + reading.source;
  }
  return result;
}

inline std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

/// The name of the enumerator, as a row of a table needs it.
inline std::string enumerator(arch::lds_op op) {
  constexpr const char* names[] = {
      "read_b8",  "read_b16",  "read_b32",  "read_b64",  "read_b96",  "read_b128",  "read_b64_tr_b16", "read_b64_tr_b8",
      "write_b8", "write_b16", "write_b32", "write_b64", "write_b96", "write_b128", "ldmatrix",        "stmatrix"};
  return names[index_t(op)];
}

inline std::string all_phases(const arch::lds_phases& phases) {
  std::string text;
  for (index_t i = 0; i < phases.num_phases(); ++i) text += (i ? " {" : "{") + lane_list(phases.lanes_of(i)) + "}";
  return text;
}

inline std::string row_text(const std::string& name, arch::lds_op op, const finding& found, const comparison& known,
                            const std::string& device) {
  if (!found.problem.empty()) return name + ": NOT CONSISTENT: " + found.problem + "\n";
  const arch::lds_phases& p = found.phases;
  std::string text = name + ": " + std::to_string(p.num_phases()) + " x " + std::to_string(p.lanes_per_phase) +
                     " lanes " + all_phases(p) + ", " + std::to_string(found.banks) + " banks\n";
  text += "  " + number(found.clocks) + " clocks without conflicts, " + number(found.unit) +
          " for each further word of a bank; random patterns within " + number(found.worst_deviation) + " words\n";
  if (!found.same_word_merges) text += "  lanes that touch one word do not merge\n";
  for (const auto& [mask, words] : found.merging)
    text += "  takes " + number(words) + " words where lanes that differ only in the bits of " + std::to_string(mask) +
            " share an address\n";
  text += "  lds_row(lds_op::" + enumerator(op) + ", lds_service{lds_phases{" + std::to_string(p.wave_size) + ", " +
          std::to_string(p.lanes_per_phase) + ", {{";
  for (index_t i = 0; i < 6; ++i) text += (i ? ", " : "") + std::to_string(p.lane_bit[i]);
  text += "}}}, " + std::to_string(found.banks) + ", grade::measured_here, \"lds_probe on " + device + "\", " +
          std::to_string(int(std::lround(found.clocks / found.unit))) + "})\n";
  return text + (known.agrees ? "  as in the table (" : "  NOT AS IN THE TABLE (") + known.known_by + ")\n";
}

inline std::string row_json(const std::string& name, const finding& found, const comparison& known) {
  std::string text = "{\"instruction\": \"" + name + "\", ";
  if (!found.problem.empty()) return text + "\"consistent\": false, \"problem\": \"" + found.problem + "\"}";
  std::string masks;
  for (const auto& [mask, words] : found.merging)
    masks += (masks.empty() ? "{\"" : ", \"") + std::to_string(mask) + "\": " + number(words);
  masks = masks.empty() ? "{}" : masks + "}";
  const auto flag = [](bool b) { return std::string(b ? "true" : "false"); };
  return text + "\"consistent\": true, \"phases\": \"" + all_phases(found.phases) +
         "\", \"banks\": " + std::to_string(found.banks) + ", \"clocks\": " + number(found.clocks) +
         ", \"clocks_per_word\": " + number(found.unit) +
         ", \"worst_deviation_in_words\": " + number(found.worst_deviation) +
         ", \"same_word_merges\": " + flag(found.same_word_merges) + ", \"merging\": " + masks +
         ", \"as_in_table\": " + flag(known.agrees) + "}";
}

}  // namespace lds_probe
