// SPDX-License-Identifier: MIT
// Pipelines with too little to work with: one stage, and one step along k.
// EXPECT: multi_stage_pipeline: one tile is multiplied while another is in flight, so at least 2 stages are needed
// EXPECT: single_buffered_pipeline: k of the block tile must be at least two steps of the matrix instruction
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/multi_stage_pipeline.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;
using enum tw::operand_major;

constexpr auto stages = tw::multi_stage_pipeline<1>::num_stages;
using policy = tw::gemm_policy<tw::arch::gfx950, tw::half_t, k, k, 8, tw::block_tile{128, 128, 16, 2, 2, mfma_32x32x16},
                               tw::single_buffered_pipeline>;
void f(const tw::gemm_args& args) { tw::gemm_kernel<policy>{}(args); }
