// SPDX-License-Identifier: MIT
// What others have published about LDS (published_lds.txt), compared with the library's tables row by row.
#pragma once

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/lds/bank_conflicts.hpp>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilewright::published {

struct lds_row {
  std::string source, target, instruction, figure, value, note;
};

inline std::vector<lds_row> read_rows(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + " cannot be read");
  std::vector<lds_row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    std::istringstream words(line);
    for (std::string field; std::getline(words, field, '|');) {
      const std::size_t first = field.find_first_not_of(' '), last = field.find_last_not_of(' ');
      fields.push_back(first == std::string::npos ? "" : field.substr(first, last - first + 1));
    }
    fields.resize(6);
    rows.push_back({fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]});
  }
  return rows;
}

/// "0-3,20-23" as a mask of lanes.
inline unsigned long long lanes_of_text(const std::string& text) {
  unsigned long long lanes = 0;
  std::istringstream ranges(text);
  for (std::string range; std::getline(ranges, range, ',');) {
    const int first = std::stoi(range),
              last = range.find('-') == std::string::npos ? first : std::stoi(range.substr(range.find('-') + 1));
    for (int lane = first; lane <= last; ++lane) lanes |= 1ull << lane;
  }
  return lanes;
}

/// The groups of lanes that a published value names, in any order.
inline std::vector<unsigned long long> groups_of_text(const std::string& text, index_t wave_size) {
  std::vector<unsigned long long> groups;
  if (text.find("contiguous") != std::string::npos) {
    const arch::lds_phases phases = arch::contiguous_phases(wave_size, std::stoi(text));
    for (index_t p = 0; p < phases.num_phases(); ++p) groups.push_back(phases.lanes_of(p));
    return groups;
  }
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    for (index_t first = 0; first < wave_size; first += 32) groups.push_back(lanes_of_text(word) << first);
  }
  return groups;
}

/// What the library's row says where another source says `row`, in the words of the file.
inline bool agrees(const lds_row& row, const arch::target& target, arch::lds_op op, const arch::lds_service& ours) {
  if (row.figure == "banks") return ours.banks == std::stoi(row.value);
  if (row.figure == "lanes per phase") return ours.phases.lanes_per_phase == std::stoi(row.value);
  if (row.figure == "lanes per clock") return ours.clocks == target.wave_size / std::stoi(row.value);
  if (row.figure == "conflicts of a phase in one bank") {
    lds_addresses address;
    for (index_t lane = 0; lane < 64; ++lane) address[lane] = lane * ours.banks * arch::lds_bank_bytes;
    const lds_access_cost cost = lds_cost(ours, arch::access_bytes(op), arch::is_write(op), address);
    return cost.conflicts == cost.phases * std::stoi(row.value);
  }
  if (row.figure != "lanes") throw std::runtime_error("no such figure: " + row.figure);
  const std::vector<unsigned long long> groups = groups_of_text(row.value, target.wave_size);
  index_t found = 0;
  for (index_t p = 0; p < ours.phases.num_phases(); ++p) {
    for (const unsigned long long group : groups) found += group == ours.phases.lanes_of(p);
  }
  return found == ours.phases.num_phases() && found == index_t(groups.size());
}

/// "agrees", "one of two readings", "differs"; `grade`: of the row, for all readings.
struct verdict {
  std::string text, grade;
};

inline verdict compare(const lds_row& row) {
  const arch::target* target = arch::find_target(row.target.c_str());
  if (target == nullptr) throw std::runtime_error("no such target: " + row.target);
  if (row.figure == "LDS bytes")
    return {target->lds_bytes == std::stoi(row.value) ? "agrees" : "differs",
            std::string(1, letter(target->lds_size_known_by))};
  for (const arch::lds_instruction& ours : target->lds) {
    if (instruction_name(*target, ours.op) != row.instruction) continue;
    verdict result;
    std::size_t agreeing = 0;
    for (const arch::lds_service& reading : ours.readings) {
      result.grade += (result.grade.empty() ? "" : " or ") + std::string(1, letter(reading.known_by));
      agreeing += agrees(row, *target, ours.op, reading);
    }
    result.text = agreeing == 0                                  ? "differs"
                  : agreeing < std::size_t(ours.readings.size()) ? "one of two readings"
                                                                 : "agrees";
    return result;
  }
  throw std::runtime_error(row.target + " has no " + row.instruction);
}

}  // namespace tilewright::published
