// SPDX-License-Identifier: MIT
// Two buffers of 256 x 128 elements for each operand are more than the 64 KiB of gfx942.
// EXPECT: gemm: the block tile needs more LDS than this target has; use a smaller block tile or fewer stages
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>

namespace tw = tilewright;

using tw::operand_major;
using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, operand_major::k, operand_major::k, 8,
                               tw::block_tile{256, 256, 128, 2, 2, tw::arch::matrix_op::mfma_32x32x8_x2}>;
auto size = tw::gemm_kernel<policy>::block_size;
