// SPDX-License-Identifier: MIT
// Two groups of two waves.
// EXPECT: ping_pong_pipeline: two groups of four waves
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/ping_pong_pipeline.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;
using enum tw::operand_major;

using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, k, k, 8, tw::block_tile{64, 64, 64, 2, 2, mfma_32x32x8_x2},
                               tw::ping_pong_pipeline>;
void f(const tw::gemm_args& args) { tw::gemm_kernel<policy>{}(args); }
