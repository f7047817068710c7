// SPDX-License-Identifier: MIT
// The source line of a call to the machine: known on the CPU, empty in code for GPUs.
#pragma once

#include <tilewright/core/base/config.hpp>

namespace tilewright::exec {

#if TILEWRIGHT_CPU_PASS

/// A line of source. As the default argument `call_site where = {}` it is the line of the call.
struct call_site {
  const char* file;  ///< as the compiler names it; nullptr: unknown
  int line;          ///< from 1

  /// By default the line that calls the function whose default argument this is.
  constexpr call_site(const char* of_file = __builtin_FILE(), int of_line = __builtin_LINE())
      : file(of_file), line(of_line) {}

  /// The same line of the same file.
  friend constexpr bool operator==(const call_site& a, const call_site& b) {
    return a.line == b.line && (a.file == b.file || __builtin_strcmp(a.file, b.file) == 0);
  }
};

#else

struct call_site {};

/// A function that kernels call takes a call_site and holds a call_scope: faults then name the line of that call. Of
/// nested scopes the outermost counts. The emulator has its own.
struct call_scope {
  /// On GPUs it does nothing.
  TILEWRIGHT_HD explicit call_scope(call_site) {}
};

#endif

}  // namespace tilewright::exec
