// SPDX-License-Identifier: MIT
// The kernel whose instructions have a budget: f16, both operands contiguous along k, vectors of 16 bytes.
#include "../../tools/gemm/kernel.hpp"

using gemm_program::kernel_choice;
using enum gemm_program::tw::operand_major;

template TILEWRIGHT_GLOBAL void gemm_program::gemm<kernel_choice<gemm_program::tw::half_t, k, k, 8>>(
    gemm_program::tw::gemm_args);
