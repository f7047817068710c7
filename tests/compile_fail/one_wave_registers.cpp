// SPDX-License-Identifier: MIT
// Operands of two steps are 128 registers, two tiles in flight as many.
// EXPECT: one_wave_pipeline: sums, operands of two steps along k and two tiles in flight are more
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/one_wave_pipeline.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;
using enum tw::operand_major;

using policy = tw::gemm_policy<tw::arch::gfx950, tw::fp8_ocp_t, k, k, 16,
                               tw::block_tile{256, 256, 128, 2, 2, mfma_32x32x64_b8}, tw::one_wave_pipeline>;
void f(const tw::gemm_args& args) { tw::gemm_kernel<policy>{}(args); }
