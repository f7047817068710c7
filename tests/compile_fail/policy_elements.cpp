// SPDX-License-Identifier: MIT
// OCP fp8 on gfx942, which has the fnuz formats.
// EXPECT: gemm_policy: the target does not have this matrix instruction for these elements
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>

namespace tw = tilewright;

using enum tw::operand_major;
constexpr tw::block_tile tile{128, 128, 128, 2, 2, tw::arch::matrix_op::mfma_32x32x16_b8_x2};
constexpr auto block_size =
    tw::gemm_kernel<tw::gemm_policy<tw::arch::gfx942, tw::fp8_ocp_t, k, k, 16, tile>>::block_size;
