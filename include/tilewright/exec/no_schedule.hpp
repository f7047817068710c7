// SPDX-License-Identifier: MIT
// What machines say that issue a matrix product as a whole and take no hints about the order of instructions.
#pragma once

#include <tilewright/arch/matrix_instruction.hpp>

namespace tilewright::exec {

/// Instructions that a matrix operation is made of, for exec::mma_part.
template <arch::matrix_op>
inline constexpr index_t mma_parts = 1;

/// What schedule_group counts.
enum class instruction_kind : signed char { matrix, global_load, lds_read, lds_write };

template <instruction_kind, index_t>
TILEWRIGHT_HD void schedule_group() {}
TILEWRIGHT_HD void schedule_fence() {}
template <class T>
TILEWRIGHT_HD T forget_origin(T value) {
  return value;
}
template <index_t>
TILEWRIGHT_HD void wait_for_lds() {}
template <index_t = 0>
TILEWRIGHT_HD void wait_for_global_loads() {}
template <index_t>
TILEWRIGHT_HD void set_priority() {}
template <index_t>
TILEWRIGHT_HD void keep_in_accumulation_registers(void*) {}

}  // namespace tilewright::exec
