// SPDX-License-Identifier: MIT
// 8-bit operands that are contiguous along n, and an epilogue both of the arguments and of the policy.
// EXPECT: hopper_policy: operands of 8 bits must be contiguous along k
// EXPECT: hopper_policy: epilogue_options with from_args have no other option
#include <tilewright/gemm/hopper/hopper_tile.hpp>

namespace tw = tilewright;
using enum tw::operand_major;

constexpr tw::hopper_tile tile{.m = 128, .n = 128};
constexpr tw::epilogue_options both{.bias = true, .from_args = true};
template struct tw::hopper_policy<tw::fp8_ocp_t, k, mn, tile, tw::bfloat16_t>;
template struct tw::hopper_policy<tw::half_t, k, k, tile, tw::half_t, both>;
