// SPDX-License-Identifier: MIT
// Kernels that the oldest supported compiler must accept: both element types, all majors, vectors and single elements.
#include "gemm_f16.hip"

template TILEWRIGHT_GLOBAL void gemm_example::gemm<kernel_choice<gemm_example::tw::bfloat16_t, mn, mn, 1>>(
    gemm_example::tw::gemm_args);
