// SPDX-License-Identifier: MIT
// The source line of a call to the machine: known on the CPU, empty in code for GPUs.
#pragma once

#include <tilewright/core/base/config.hpp>

namespace tilewright::exec {

#if TILEWRIGHT_CPU_PASS

#if defined(__clang__)
#define TILEWRIGHT_COLUMN __builtin_COLUMN()
#else
#define TILEWRIGHT_COLUMN 0  // g++ has no such function
#endif

/// A line of source. As the default argument `call_site where = {}` it is the line of the call.
struct call_site {
  const char* file;  ///< as the compiler names it; nullptr: unknown
  int line;          ///< from 1
  int column;        ///< from 1; 0: unknown

  /// By default the call of the function whose default argument this is.
  constexpr call_site(const char* of_file = __builtin_FILE(), int of_line = __builtin_LINE(),
                      int of_column = TILEWRIGHT_COLUMN)
      : file(of_file), line(of_line), column(of_column) {}

  /// One call, not two on one line.
  constexpr bool is_same_call(const call_site& other) const { return *this == other && column == other.column; }

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
