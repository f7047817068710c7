// SPDX-License-Identifier: MIT
// A block tile whose accumulators would not fit into the registers of two warpgroups; and wgmma in another pipeline.
// EXPECT: warp_specialized_pipeline: the tile must be a wgmma_tile whose m is a multiple of 64 for each of 1 or 2
// EXPECT: gemm_policy: wgmma reads its operands from LDS; use warp_specialized_pipeline
#include <tilewright/gemm/warp_specialized_pipeline.hpp>

namespace tw = tilewright;
using enum tw::operand_major;
using tw::half_t;

using large =
    tw::gemm_policy<tw::arch::sm90, half_t, k, k, 8, tw::wgmma_tile<half_t>(256, 256), tw::warp_specialized_pipeline<>>;
constexpr tw::index_t stages = tw::specialized_block<large>::num_stages;
using other =
    tw::gemm_policy<tw::arch::sm90, half_t, k, k, 8, tw::wgmma_tile<half_t>(128, 128), tw::double_buffered_pipeline>;
constexpr tw::index_t vector = other::vector;
