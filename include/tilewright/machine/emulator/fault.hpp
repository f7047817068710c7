// SPDX-License-Identifier: MIT
// The error of a kernel that does what its target does not allow, the words for it, and numbers for the source lines
// that ask the machine for something.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/block_index.hpp>
#include <tilewright/core/base/call_site.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::emulator {

using exec::block_index;
using exec::call_site;

/// A kernel or a launch broke a rule of the emulated target. what() is one line: what, which thread,
/// which block, which line.
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where exceptions are switched off, prints the error message and ends the program.
[[noreturn]] inline void throw_fault(const std::string& message) {
#if defined(__cpp_exceptions)
  throw fault(message);
#else
  std::fprintf(stderr, "tilewright: %s\n", message.c_str());
  std::abort();
#endif
}

/// "(x, y, z)".
inline std::string to_string(const block_index& b) {
  std::string text = "(";  // g++ 12 warns of "(" + std::string at -O3
  text += std::to_string(b.x) + ", " + std::to_string(b.y) + ", " + std::to_string(b.z) + ")";
  return text;
}

/// "tile_copy.hpp:12": folders are left out.
inline std::string to_string(call_site where) {
  const std::string_view file = where.file;
  std::string text(file.substr(file.find_last_of("/\\") + 1));  // npos + 1 is 0
  text += ':' + std::to_string(where.line);
  return text;
}

class call_sites {
 public:
  /// A number for a source line, from 1 in order of first use.
  std::uint16_t number_of(call_site where) {
    const std::size_t hash = (reinterpret_cast<std::uintptr_t>(where.file) >> 4) * 31 + std::size_t(where.line);
    known_site& known = known_[hash % num_known];
    if (known.file != where.file || known.line != where.line) known = {where.file, where.line, look_up(where)};
    return known.number;
  }

  /// Number 0 is no place.
  call_site operator[](std::size_t number) const { return sites_[number]; }
  /// " (file.hpp:12)".
  std::string text(std::size_t number) const { return " (" + to_string(sites_[number]) + ')'; }

 private:
  std::uint16_t look_up(call_site where) {
    const auto site = std::find(sites_.begin() + 1, sites_.end(), where);
    const auto number = std::size_t(site - sites_.begin());
    if (site == sites_.end()) {
      if (number > 0xffff) throw_fault("a kernel accesses LDS on more lines than can be told apart");
      sites_.push_back(where);
    }
    return std::uint16_t(number);
  }

  struct known_site {
    const char* file = nullptr;
    int line = 0;
    std::uint16_t number = 0;
  };
  static constexpr std::size_t num_known = 256;

  std::vector<call_site> sites_{call_site{"", 0}};
  array<known_site, num_known> known_{};
};

}  // namespace tilewright::emulator
