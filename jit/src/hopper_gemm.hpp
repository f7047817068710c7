// SPDX-License-Identifier: MIT
// Host halves of the GEMM kernels for Hopper.
#pragma once

#include <optional>
#include <string>

#include <tilewright/jit/gemm.hpp>

namespace tilewright::jit {

/// A kernel for sm_90a with device_args; nothing where none of them can compute the problem.
std::optional<kernel_source> hopper_gemm(const gemm_problem& problem);

// Shared by the makers of GEMM kernels.
std::string type_name(element e, bool is_amd_fnuz = false);
std::string short_name(element e);
/// What the pointers of a launch lack, as a sentence; nullptr if nothing.
const char* check_pointers(const gemm_args& args);
bool has_epilogue(const gemm_args& args);
/// For instance f16_ak_bk_to_f16.
std::string operands_name(const gemm_problem& p);

}  // namespace tilewright::jit
