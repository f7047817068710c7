// SPDX-License-Identifier: MIT
// How much memory a problem takes, and whether this machine has it.
#pragma once

#include <cstdint>

#include "backend.hpp"

namespace gemm_program {

/// Bytes of A, B, C and the residual, and of a second C if the initial one is kept.
/// Throws refusal if 64 bits cannot count them.
std::int64_t memory_bytes(const problem& p, bool keeps_initial_c);

/// Throws refusal if the matrices take more than the memory of this machine.
void require_memory(const problem& p, bool keeps_initial_c);

}  // namespace gemm_program
