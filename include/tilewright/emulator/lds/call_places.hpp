// SPDX-License-Identifier: MIT
// Numbers for the source lines that ask the machine for something.
#pragma once

#include <tilewright/emulator/fault.hpp>
#include <tilewright/util/array.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::emulator {

class call_places {
 public:
  std::uint16_t number_of(call_site where) {
    const std::size_t hash = (reinterpret_cast<std::uintptr_t>(where.file) >> 4) * 31 + std::size_t(where.line);
    known_place& known = known_[hash % num_known];
    if (known.file != where.file || known.line != where.line) known = {where.file, where.line, look_up(where)};
    return known.number;
  }

  /// Number 0 is no place.
  call_site operator[](std::size_t number) const { return places_[number]; }
  /// " (file.hpp:12)".
  std::string text(std::size_t number) const { return " (" + to_string(places_[number]) + ')'; }

 private:
  std::uint16_t look_up(call_site where) {
    const auto place = std::find(places_.begin() + 1, places_.end(), where);
    const auto number = std::size_t(place - places_.begin());
    if (place == places_.end()) {
      if (number > 0xffff) throw_fault("a kernel accesses LDS on more lines than can be told apart");
      places_.push_back(where);
    }
    return std::uint16_t(number);
  }

  struct known_place {
    const char* file = nullptr;
    int line = 0;
    std::uint16_t number = 0;
  };
  static constexpr std::size_t num_known = 256;

  std::vector<call_site> places_{call_site{"", 0}};
  array<known_place, num_known> known_{};
};

}  // namespace tilewright::emulator
