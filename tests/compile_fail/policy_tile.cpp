// SPDX-License-Identifier: MIT
// A block tile of 48 rows for two waves with instructions of 32 rows.
// EXPECT: gemm_policy: the block tile is not a whole number of matrix instructions for each wave
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>

namespace tw = tilewright;

using tw::operand_major;
using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, operand_major::k, operand_major::k, 8,
                               tw::block_tile{48, 64, 32, 2, 2, tw::arch::matrix_op::mfma_32x32x8}>;
auto major = policy::a_major;
