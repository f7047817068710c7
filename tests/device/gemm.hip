// SPDX-License-Identifier: MIT
// The kernels of tools/gemm for 16-bit elements and every layout,
// without the program around them: no GPU runtime is needed to compile them.
#include "../../tools/gemm/kernel.hpp"

namespace gemm_program {

using enum tw::operand_major;
using tw::bfloat16_t;
using tw::half_t;

template TILEWRIGHT_GLOBAL void gemm<kernel_choice<half_t, k, k, 8>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<half_t, k, mn, 8>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<half_t, mn, k, 8>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<half_t, mn, mn, 8>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<half_t, k, k, 1>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<half_t, k, mn, 1>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<half_t, mn, k, 1>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<half_t, mn, mn, 1>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<bfloat16_t, k, k, 8>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<bfloat16_t, k, mn, 8>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<bfloat16_t, mn, k, 8>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<bfloat16_t, mn, mn, 8>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<bfloat16_t, k, k, 1>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<bfloat16_t, k, mn, 1>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<bfloat16_t, mn, k, 1>>(tw::gemm_args);
template TILEWRIGHT_GLOBAL void gemm<kernel_choice<bfloat16_t, mn, mn, 1>>(tw::gemm_args);

}  // namespace gemm_program
