// SPDX-License-Identifier: MIT
// An instruction of gfx1201 on gfx942.
// EXPECT: gemm_policy: the target does not have this matrix instruction
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>

namespace tw = tilewright;

using tw::operand_major;
using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, operand_major::k, operand_major::k, 8,
                               tw::block_tile{64, 64, 32, 2, 2, tw::arch::matrix_op::wmma_16x16x16_gfx12}>;
auto major = policy::a_major;
