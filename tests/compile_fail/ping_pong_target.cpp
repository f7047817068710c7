// SPDX-License-Identifier: MIT
// Waves of WMMA hardware do not take turns.
// EXPECT: ping_pong_pipeline: the groups take turns at the matrix units of CDNA
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/ping_pong_pipeline.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;
using enum tw::operand_major;

using policy = tw::gemm_policy<tw::arch::gfx1100, tw::half_t, k, k, 8,
                               tw::block_tile{128, 128, 64, 2, 4, wmma_16x16x16_gfx11}, tw::ping_pong_pipeline>;
void f(const tw::gemm_args& args) { tw::gemm_kernel<policy>{}(args); }
