// SPDX-License-Identifier: MIT
// Rules that kernels must keep and no compiler can check; the emulator checks them at run time.
#pragma once

#include <tilewright/machine/exec/exec.hpp>

namespace tilewright::exec {

#if TILEWRIGHT_CPU_PASS
namespace detail {
[[noreturn]] inline void throw_broken_rule(const char* message, call_site where) {
  if (emulator::current_thread == nullptr) emulator::throw_fault(message);
  emulator::throw_fault("thread " + std::to_string(thread_id()) + " of block " + emulator::to_string(block_id()) +
                        ", " + emulator::to_string(self().site_of(where)) + ": " + message);
}
}  // namespace detail
#endif

/// On the CPU, throws a fault with the error message and the line of the call if the rule is broken; in a constant
/// expression, that is a compiler error. Nothing is checked on GPUs.
TILEWRIGHT_HD constexpr void expect([[maybe_unused]] bool rule_is_kept, [[maybe_unused]] const char* message,
                                    [[maybe_unused]] call_site where = {}) {
#if TILEWRIGHT_CPU_PASS
  if (!rule_is_kept) detail::throw_broken_rule(message, where);
#endif
}

}  // namespace tilewright::exec
