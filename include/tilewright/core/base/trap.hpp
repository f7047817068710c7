// SPDX-License-Identifier: MIT
// Refuses arguments of constexpr functions: a call in a constant expression is a compile-time error.
#pragma once

#include <tilewright/core/base/config.hpp>

#if TILEWRIGHT_CPU_PASS
/// POSIX; declared here because headers that kernels include have no standard header.
extern "C" int dprintf(int file, const char* format, ...);
#endif

namespace tilewright::detail {

/// Ends the program. Never constexpr; call it from a function whose name says what is wrong,
/// so that the compiler's message does.
TILEWRIGHT_HD void trap() {
#if defined(__CUDA_ARCH__)
  __trap();
#else
  __builtin_trap();
#endif
}

/// The same; on the CPU the text is written to stderr first.
TILEWRIGHT_HD void trap([[maybe_unused]] const char* text) {
#if TILEWRIGHT_CPU_PASS
  dprintf(2, "tilewright: %s\n", text);
#endif
  trap();
}

}  // namespace tilewright::detail
