// SPDX-License-Identifier: MIT
// Policies that a pipeline cannot serve.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/portable/multi_stage_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/one_wave_per_simd_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/ping_pong_pipeline.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;
using enum tw::operand_major;
using tw::block_tile, tw::gemm_policy, tw::half_t, tw::one_wave_per_simd_pipeline;
using namespace tilewright::arch;

// Column-major A copied to LDS without registers on a target that cannot read it transposed.
// EXPECT: without ldmatrix or transposing reads an operand whose rows are not contiguous must pass through registers
using gemm_direct_columns =
    gemm_policy<gfx942, half_t, mn, k, 8, tw::default_block_tile<gfx942, half_t>(), tw::multi_stage_pipeline<2>>;
int gemm_direct_columns_main() { return gemm_direct_columns::vector; }

// Single elements copied to LDS without registers.
// EXPECT: this pipeline copies vectors of 16 bytes, on gfx90a and gfx942 of 4
using gemm_direct_vector =
    gemm_policy<gfx942, half_t, k, k, 1, tw::default_block_tile<gfx942, half_t>(), tw::multi_stage_pipeline<2>>;
int gemm_direct_vector_main() { return gemm_direct_vector::vector; }

// Bytes that are put in order between global memory and LDS.
// EXPECT: one_wave_per_simd_pipeline: on this target 8-bit operands
using one_wave_bytes = gemm_policy<gfx942, tw::fp8_fnuz_t, mn, k, 16,
                                   block_tile{128, 128, 64, 2, 2, mfma_32x32x16_b8_x2}, one_wave_per_simd_pipeline>;
void one_wave_bytes_run(const tw::gemm_args& args) { tw::gemm_kernel<one_wave_bytes>{}(args); }

// Operands of two steps are 128 registers, two tiles in flight as many.
// EXPECT: one_wave_per_simd_pipeline: accumulators, operands of two steps along k and two tiles in flight are more
using one_wave_registers = gemm_policy<gfx950, tw::fp8_ocp_t, k, k, 16,
                                       block_tile{256, 256, 128, 2, 2, mfma_32x32x64_b8}, one_wave_per_simd_pipeline>;
void one_wave_registers_run(const tw::gemm_args& args) { tw::gemm_kernel<one_wave_registers>{}(args); }

// A tile of one step has no next step to read.
// EXPECT: one_wave_per_simd_pipeline: k of the block tile must be at least two steps
using one_wave_steps =
    gemm_policy<gfx950, half_t, k, k, 8, block_tile{128, 128, 16, 2, 2, mfma_32x32x16}, one_wave_per_simd_pipeline>;
void one_wave_steps_run(const tw::gemm_args& args) { tw::gemm_kernel<one_wave_steps>{}(args); }

// A wave cannot have all registers of a SIMD of RDNA.
// EXPECT: one_wave_per_simd_pipeline: a wave can use all registers of a SIMD on CDNA only
using one_wave_target = gemm_policy<gfx1201, half_t, k, k, 8, block_tile{64, 64, 64, 2, 2, wmma_16x16x16_gfx12},
                                    one_wave_per_simd_pipeline>;
void one_wave_target_run(const tw::gemm_args& args) { tw::gemm_kernel<one_wave_target>{}(args); }

// Two waves for each SIMD.
// EXPECT: one_wave_per_simd_pipeline: a compute unit has four SIMDs
using one_wave_waves =
    gemm_policy<gfx942, half_t, k, k, 8, block_tile{128, 128, 64, 2, 4, mfma_32x32x8_x2}, one_wave_per_simd_pipeline>;
void one_wave_waves_run(const tw::gemm_args& args) { tw::gemm_kernel<one_wave_waves>{}(args); }

// WMMA hardware has no ping-pong of waves.
// EXPECT: ping_pong_pipeline: two groups of waves alternate at the matrix units of CDNA
using ping_pong_target =
    gemm_policy<gfx1100, half_t, k, k, 8, block_tile{128, 128, 64, 2, 4, wmma_16x16x16_gfx11}, tw::ping_pong_pipeline>;
void ping_pong_target_run(const tw::gemm_args& args) { tw::gemm_kernel<ping_pong_target>{}(args); }

// Two groups of two waves.
// EXPECT: ping_pong_pipeline: two groups of four waves
using ping_pong_waves =
    gemm_policy<gfx942, half_t, k, k, 8, block_tile{64, 64, 64, 2, 2, mfma_32x32x8_x2}, tw::ping_pong_pipeline>;
void ping_pong_waves_run(const tw::gemm_args& args) { tw::gemm_kernel<ping_pong_waves>{}(args); }

// Pipelines with too little to work with: one stage, and one step along k.
// EXPECT: multi_stage_pipeline: one tile is multiplied while another is in flight, so at least 2 stages are needed
// EXPECT: single_buffered_pipeline: k of the block tile must be at least two steps of the matrix instruction
constexpr auto stages = tw::multi_stage_pipeline<1>::num_stages;
using pipeline_steps =
    gemm_policy<gfx950, half_t, k, k, 8, block_tile{128, 128, 16, 2, 2, mfma_32x32x16}, tw::single_buffered_pipeline>;
void pipeline_steps_run(const tw::gemm_args& args) { tw::gemm_kernel<pipeline_steps>{}(args); }
