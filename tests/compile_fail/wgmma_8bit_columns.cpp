// SPDX-License-Identifier: MIT
// 8-bit operands that are contiguous along n.
// EXPECT: gemm_policy: wgmma takes operands of 8 bits only where they are contiguous along k
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>

namespace tw = tilewright;
using enum tw::operand_major;

constexpr tw::hopper_gemm_tile tile{.m = 128, .n = 128};
template struct tw::gemm_hopper<tw::fp8_ocp_t, k, mn, tile, tw::bfloat16_t>;
