// SPDX-License-Identifier: MIT
// The kernels of tools/gemm for 16-bit elements and every layout,
// without the program around them: no GPU runtime is needed to compile them.
#include "../../tools/gemm/kernel.hpp"

namespace gemm_program {

using enum tw::operand_major;
using tw::bfloat16_t;
using tw::half_t;

template void launch_kernels<
    kernel_choice<half_t, k, k, 8>, kernel_choice<half_t, k, mn, 8>, kernel_choice<half_t, mn, k, 8>,
    kernel_choice<half_t, mn, mn, 8>, kernel_choice<half_t, k, k, 1>, kernel_choice<half_t, k, mn, 1>,
    kernel_choice<half_t, mn, k, 1>, kernel_choice<half_t, mn, mn, 1>, kernel_choice<bfloat16_t, k, k, 8>,
    kernel_choice<bfloat16_t, k, mn, 8>, kernel_choice<bfloat16_t, mn, k, 8>, kernel_choice<bfloat16_t, mn, mn, 8>,
    kernel_choice<bfloat16_t, k, k, 1>, kernel_choice<bfloat16_t, k, mn, 1>, kernel_choice<bfloat16_t, mn, k, 1>,
    kernel_choice<bfloat16_t, mn, mn, 1>>(const tw::gemm_args&);

}  // namespace gemm_program
