// SPDX-License-Identifier: MIT
// No-op scheduling hints, and no scaled matrix instructions, for targets that have none.
#pragma once

#include <tilewright/core/arch/matrix_element.hpp>

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
#if !TILEWRIGHT_STUB_PASS
template <arch::matrix_op, index_t Byte, arch::scaled_element, arch::scaled_element>
TILEWRIGHT_HD void mma_scaled(float*, const unsigned*, const unsigned*, unsigned, unsigned) {
  static_assert(Byte < 0, "mma_scaled: gfx950 alone has scaled matrix instructions; use dequantising_policy");
}
#endif

}  // namespace tilewright::exec
