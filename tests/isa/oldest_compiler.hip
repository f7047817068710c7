// SPDX-License-Identifier: MIT
// Kernels that the oldest supported compiler must accept: both element types, all majors, vectors and single elements.
#include "gemm_f16.hip"

template void gemm_program::launch_kernels<gemm_program::kernel_choice<
    tilewright::bfloat16_t, tilewright::operand_major::mn, tilewright::operand_major::mn, 1>>(
    const tilewright::gemm_args&);
