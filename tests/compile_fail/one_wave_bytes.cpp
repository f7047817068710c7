// SPDX-License-Identifier: MIT
// Bytes that are put in order between global memory and LDS.
// EXPECT: one_wave_pipeline: on this target 8-bit operands
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/one_wave_pipeline.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;
using enum tw::operand_major;

using policy = tw::gemm_policy<tw::arch::gfx942, tw::fp8_fnuz_t, mn, k, 16,
                               tw::block_tile{128, 128, 64, 2, 2, mfma_32x32x16_b8_x2}, tw::one_wave_pipeline>;
void f(const tw::gemm_args& args) { tw::gemm_kernel<policy>{}(args); }
