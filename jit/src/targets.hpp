// SPDX-License-Identifier: MIT
// The targets that kernels are compiled for, by the names that compilers use.
#pragma once

#include <string>

#include <tilewright/core/base/index.hpp>
#include <tilewright/jit/element.hpp>

namespace tilewright::jit {

/// Throws error if the library has no table for the target.
void require_known_target(const std::string& target);

/// About how many blocks a GPU of this target runs at the same time, by its tables: limited by LDS, and by registers
/// that leave each SIMD two waves.
index_t expected_blocks(const std::string& target, int lds_bytes, int block_size);

/// Whether the target has a matrix instruction (MFMA, WMMA, mma.sync; not wgmma) for these elements. True for a target
/// that the library does not know, which is refused elsewhere.
bool has_matrix_instruction(element type, const std::string& target);
/// Throws refused with the operation's name where it has none.
void require_matrix_instruction(const char* operation, element type, const std::string& target);

bool is_nvidia(const std::string& target);
/// sm_90a, or sm_90 as the CPU emulator calls it.
bool is_hopper(const std::string& target);

}  // namespace tilewright::jit
