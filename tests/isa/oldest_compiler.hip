// SPDX-License-Identifier: MIT
// Kernels that the oldest supported compiler must accept: both element types, all majors, vectors and single elements.
#include "gemm_f16.hip"

template TILEWRIGHT_GLOBAL void gemm_program::gemm<kernel_choice<gemm_program::tw::bfloat16_t, mn, mn, 1>>(
    gemm_program::tw::gemm_args);
