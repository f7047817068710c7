// SPDX-License-Identifier: MIT
// A block tile whose accumulators would not fit into the registers of two warpgroups; a tile with any_start for groups;
// and wgmma in another pipeline.
// EXPECT: warp_specialized_pipeline: the tile must be a wgmma_tile whose m is a multiple of 64 for each of 1 or 2
// EXPECT: warp_specialized_pipeline: tiles with any_start are for plain products
// EXPECT: gemm_policy: wgmma reads its operands from LDS; use warp_specialized_pipeline
#include <tilewright/kernels/gemm/choice/specialized_choice.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/warp_specialized_pipeline.hpp>

namespace tw = tilewright;
using enum tw::operand_major;
using tw::half_t;

using large =
    tw::gemm_policy<tw::arch::sm90, half_t, k, k, 8, tw::wgmma_tile<half_t>(256, 256), tw::warp_specialized_pipeline<>>;
constexpr tw::index_t stages = tw::specialized_block<large>::num_stages;
using any_start = tw::grouped<
    tw::gemm_specialized<half_t, k, k, tw::specialized_tile{.m = 64, .n = 64, .consumers = 1, .any_start = true}>,
    tw::group_kind::rows>;
constexpr tw::index_t stages_of_groups = tw::specialized_block<any_start>::num_stages;
using other =
    tw::gemm_policy<tw::arch::sm90, half_t, k, k, 8, tw::wgmma_tile<half_t>(128, 128), tw::double_buffered_pipeline>;
constexpr tw::index_t vector = other::vector;
