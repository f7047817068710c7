// SPDX-License-Identifier: MIT
// Rules that a kernel must keep and that no compiler can check: the CPU backend does.
#pragma once

#include <tilewright/exec/exec.hpp>

namespace tilewright::exec {

#if TILEWRIGHT_CPU_PASS
namespace detail {
[[noreturn]] inline void throw_broken_rule(const char* sentence) {
  if (emulator::current_thread == nullptr) throw emulator::fault(sentence);
  throw emulator::fault("thread " + std::to_string(thread_id()) + " of block " + emulator::to_string(block_id()) +
                        ": " + sentence);
}
}  // namespace detail
#endif

/// On the CPU, throws a fault with the sentence if the rule is broken; in a constant expression,
/// that is an error of the compiler. On GPUs nothing is checked.
TILEWRIGHT_HD constexpr void expect([[maybe_unused]] bool rule_is_kept, [[maybe_unused]] const char* sentence) {
#if TILEWRIGHT_CPU_PASS
  if (!rule_is_kept) detail::throw_broken_rule(sentence);
#endif
}

}  // namespace tilewright::exec
