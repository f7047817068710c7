// SPDX-License-Identifier: MIT
// The targets that the CPU backend of the program emulates. For each, gemm.hip is compiled once.
#pragma once

#include "kernel_choice.hpp"

#include <tilewright/arch/arch.hpp>
#include <tilewright/util/tuple.hpp>

namespace gemm_example {

using emulated_arch_list = tw::tuple<tw::arch::gfx90a, tw::arch::gfx942, tw::arch::gfx950, tw::arch::gfx1100,
                                     tw::arch::gfx1201, tw::arch::sm80, tw::arch::sm90>;

/// Runs a problem on an emulated target; c_bytes is the size of C.
template <class Arch>
outcome run_emulated(const kernel_problem& problem, std::size_t c_bytes, const run_options& options);

}  // namespace gemm_example
