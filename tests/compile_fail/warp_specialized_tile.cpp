// SPDX-License-Identifier: MIT
// A block tile whose accumulators would not fit into the registers of two warpgroups; a tile with unaligned for groups;
// and wgmma in another pipeline.
// EXPECT: warp_specialized_pipeline: the tile must be a wgmma_tile whose m is a multiple of 64 for each of 1 or 2
// EXPECT: warp_specialized_pipeline: tiles with unaligned are for plain products
// EXPECT: operand_policy: wgmma reads its operands from LDS; use warp_specialized_pipeline
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>

namespace tw = tilewright;
using enum tw::operand_major;
using tw::half_t;

using large =
    tw::gemm_policy<tw::arch::sm90, half_t, k, k, 8, tw::wgmma_tile<half_t>(256, 256), tw::warp_specialized_pipeline<>>;
constexpr tw::index_t stages = tw::hopper_gemm_block<large>::num_stages;
using unaligned = tw::grouped<
    tw::gemm_hopper<half_t, k, k, tw::hopper_gemm_tile{.m = 64, .n = 64, .consumers = 1, .unaligned = true}>,
    tw::group_kind::rows>;
constexpr tw::index_t stages_of_groups = tw::hopper_gemm_block<unaligned>::num_stages;
using other =
    tw::gemm_policy<tw::arch::sm90, half_t, k, k, 8, tw::wgmma_tile<half_t>(128, 128), tw::double_buffered_pipeline>;
constexpr tw::index_t vector = other::vector;
