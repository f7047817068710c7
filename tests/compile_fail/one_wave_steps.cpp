// SPDX-License-Identifier: MIT
// A tile of one step has no next step to read.
// EXPECT: one_wave_pipeline: k of the block tile must be at least two steps
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/one_wave_pipeline.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;
using enum tw::operand_major;

using policy = tw::gemm_policy<tw::arch::gfx950, tw::half_t, k, k, 8, tw::block_tile{128, 128, 16, 2, 2, mfma_32x32x16},
                               tw::one_wave_pipeline>;
void f(const tw::gemm_args& args) { tw::gemm_kernel<policy>{}(args); }
