// SPDX-License-Identifier: MIT
// How much memory a problem takes, and whether this process can have it.
#pragma once

#include <cstdint>

#include "backend.hpp"

namespace gemm_program {

/// Bytes of A, B, C and the residual, and of copies of C.
/// Throws refusal if 64 bits cannot count them.
std::int64_t memory_bytes(const problem& p, int copies_of_c);

/// Throws refusal if the matrices take more than program::available_memory().
void require_memory(const problem& p, int copies_of_c);

}  // namespace gemm_program
