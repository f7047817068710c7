// SPDX-License-Identifier: MIT
// Refuses arguments of constexpr functions: a call in a constant expression is a compile-time error.
#pragma once

#include <tilewright/core/base/config.hpp>

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

}  // namespace tilewright::detail
