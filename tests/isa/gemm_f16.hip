// SPDX-License-Identifier: MIT
// The kernel whose instructions have a budget: f16, both operands contiguous along k, vectors of 16 bytes.
#include "../../tools/gemm/kernel.hpp"

namespace gemm_program {

using enum tw::operand_major;

template void launch_kernels<kernel_choice<tw::half_t, k, k, 8>>(const tw::gemm_args&);

}  // namespace gemm_program
