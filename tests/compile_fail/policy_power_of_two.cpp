// SPDX-License-Identifier: MIT
// A block tile of 96 rows.
// EXPECT: gemm_policy: m, n and k of the block tile must be powers of two
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>

namespace tw = tilewright;

using tw::operand_major;
using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, operand_major::k, operand_major::k, 8,
                               tw::block_tile{96, 64, 32, 1, 2, tw::arch::matrix_op::mfma_32x32x8}>;
auto major = policy::a_major;
