// SPDX-License-Identifier: MIT
// A block tile of which half of the threads would copy nothing.
// EXPECT: gemm_policy: the block tile has less than 16 bytes of each operand for each thread; use fewer waves or a larger block tile
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>

namespace tw = tilewright;

using tw::operand_major;
using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, operand_major::k, operand_major::k, 8,
                               tw::block_tile{16, 16, 16, 1, 1, tw::arch::matrix_op::mfma_16x16x16}>;
auto major = policy::a_major;
