// SPDX-License-Identifier: MIT
// A wave cannot have all registers of a SIMD of RDNA.
// EXPECT: one_wave_pipeline: a wave can use all registers of a SIMD on CDNA only
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/one_wave_pipeline.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;
using enum tw::operand_major;

using policy = tw::gemm_policy<tw::arch::gfx1201, tw::half_t, k, k, 8,
                               tw::block_tile{64, 64, 64, 2, 2, wmma_16x16x16_gfx12}, tw::one_wave_pipeline>;
void f(const tw::gemm_args& args) { tw::gemm_kernel<policy>{}(args); }
