// SPDX-License-Identifier: MIT
// 8-bit operands that are contiguous along n.
// EXPECT: gemm_policy: wgmma takes operands of 8 bits only where they are contiguous along k
#include <tilewright/kernels/gemm/choice/specialized_choice.hpp>

namespace tw = tilewright;
using enum tw::operand_major;

constexpr tw::specialized_tile tile{.m = 128, .n = 128};
template struct tw::gemm_specialized<tw::fp8_ocp_t, k, mn, tile, tw::bfloat16_t>;
