// SPDX-License-Identifier: MIT
// 8-bit operands that are contiguous along n.
// EXPECT: hopper_policy: operands of 8 bits must be contiguous along k
#include <tilewright/gemm/hopper/hopper_tile.hpp>

namespace tw = tilewright;
using enum tw::operand_major;

constexpr tw::hopper_tile tile{.m = 128, .n = 128};
template struct tw::hopper_policy<tw::fp8_ocp_t, k, mn, tile, tw::bfloat16_t>;
