// SPDX-License-Identifier: MIT
// A block tile whose accumulators would not fit into the registers of two warpgroups.
// EXPECT: hopper_policy: m is a multiple of 64 for each of 1 to 3 consumers
#include <tilewright/gemm/hopper/hopper_tile.hpp>

namespace tw = tilewright;

constexpr tw::hopper_tile too_many_accumulators{.m = 256, .n = 256};
using policy = tw::hopper_policy<tw::half_t, tw::operand_major::k, tw::operand_major::k, too_many_accumulators>;
constexpr tw::index_t stages = policy::num_stages;
