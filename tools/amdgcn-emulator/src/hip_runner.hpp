// SPDX-License-Identifier: MIT
// Runs kernels through HIP's runtime instead of in this process: on an AMD GPU, or on another emulator below HIP.
#pragma once

#include <amdgcn_emulator.hpp>

#include <utility>

#include "numeric.hpp"

namespace emu {

/// Whether the environment asks for it: AMDGCN_RUNNER=hip.
bool runs_through_hip();

/// The kernel may access the ranges [first, last) of host memory, which the GPU must see at the same addresses. Nothing
/// is checked or counted. Throws a fault with the runtime's sentence.
void run_through_hip(const std::string& code_object, const std::string& kernel, dim3 grid, dim3 block, std::size_t lds,
                     const std::vector<u8>& arguments, const std::vector<std::pair<u64, u64>>& ranges);

}  // namespace emu
