// SPDX-License-Identifier: MIT
// Two waves for each SIMD.
// EXPECT: one_wave_pipeline: a compute unit has four SIMDs
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/one_wave_pipeline.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;
using enum tw::operand_major;

using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, k, k, 8,
                               tw::block_tile{128, 128, 64, 2, 4, mfma_32x32x8_x2}, tw::one_wave_pipeline>;
void f(const tw::gemm_args& args) { tw::gemm_kernel<policy>{}(args); }
