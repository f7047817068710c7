// SPDX-License-Identifier: MIT
// The error of a kernel that does what its target does not allow, and the words for it.
#pragma once

#include <tilewright/util/block_index.hpp>
#include <tilewright/util/call_site.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tilewright::emulator {

using exec::block_index;
using exec::call_site;

/// A kernel or a launch broke a rule of the emulated target. what() is one sentence: what, which thread,
/// which block, which line.
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where exceptions are switched off, prints the sentence and ends the program.
[[noreturn]] inline void throw_fault(const std::string& sentence) {
#if defined(__cpp_exceptions)
  throw fault(sentence);
#else
  std::fprintf(stderr, "tilewright: %s\n", sentence.c_str());
  std::abort();
#endif
}

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

}  // namespace tilewright::emulator
