// SPDX-License-Identifier: MIT
// The kernel whose instructions have a budget: f16, both operands contiguous along k, vectors of 16 bytes.
#include "../../examples/05_gemm/kernel.hpp"

using gemm_example::kernel_choice;
using enum gemm_example::tw::operand_major;

template TILEWRIGHT_GLOBAL void gemm_example::gemm<kernel_choice<gemm_example::tw::half_t, k, k, 8>>(
    gemm_example::tw::gemm_args);
