// SPDX-License-Identifier: MIT
// The targets that kernels are compiled for, by the names that compilers use.
#pragma once

#include <string>

namespace tilewright::jit {

/// Throws error if the library has no table for the target.
void require_known_target(const std::string& target);

bool is_nvidia(const std::string& target);
/// sm_90a, or sm_90 as the CPU emulator calls it.
bool is_hopper(const std::string& target);

}  // namespace tilewright::jit
