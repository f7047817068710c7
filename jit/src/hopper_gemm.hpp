// SPDX-License-Identifier: MIT
// Host halves of the GEMM kernels for Hopper.
#pragma once

#include <string>
#include <vector>

#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_tile.hpp>

namespace tilewright::jit {

/// Kernels for sm_90a with device_args, as rank_gemm does; none where none of them can compute the problem.
std::vector<gemm_candidate> rank_hopper_gemm(const gemm_problem& problem);
/// The one of a choice that is in that list.
kernel_source hopper_gemm(const gemm_problem& problem, const std::string& choice);

/// A tile as C++ text.
std::string text_of(const hopper_gemm_tile& t);

// Shared by the makers of GEMM kernels.
std::string type_name(element e, bool is_amd_fnuz = false);
std::string short_name(element e);
/// What the pointers of a launch lack, as a sentence; nullptr if nothing.
const char* check_pointers(const gemm_args& args);
/// Whether the kernel of a problem has one: a kernel for all lengths is also one for all epilogues.
bool applies_epilogue(const gemm_problem& p);
/// The kernel's, in tw::epilogue.
std::string epilogue_name(const gemm_problem& p);
/// For instance f16_ak_bk_to_f16.
std::string operands_name(const gemm_problem& p);

}  // namespace tilewright::jit
