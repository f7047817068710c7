// SPDX-License-Identifier: MIT
// No-op scheduling hints for targets that have none.
#pragma once

#include <tilewright/core/arch/matrix_instruction.hpp>

namespace tilewright::exec {

template <arch::matrix_op>
inline constexpr index_t mma_issues = 1;

enum class instruction_kind : signed char { matrix, global_load, lds_read, lds_write };

template <instruction_kind, index_t>
TILEWRIGHT_HD void schedule_group() {}
TILEWRIGHT_HD void schedule_fence() {}
template <class T>
TILEWRIGHT_HD T opaque(T value) {
  return value;
}
template <class Args>
TILEWRIGHT_HD const Args& load_again(const Args& args) {
  return args;
}
#if !TILEWRIGHT_CPU_PASS  // the emulator takes note of this wait
template <index_t>
TILEWRIGHT_HD void wait_for_lds() {}
#endif
template <index_t = 0>
TILEWRIGHT_HD void wait_for_global_loads() {}
template <index_t>
TILEWRIGHT_HD void set_priority() {}
template <index_t>
TILEWRIGHT_HD void keep_in_accumulation_registers(void*) {}

}  // namespace tilewright::exec
