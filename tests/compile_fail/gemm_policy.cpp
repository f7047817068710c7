// SPDX-License-Identifier: MIT
// Policies of GEMM kernels.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/arch/gfx942.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/gemm_policy.hpp>

namespace tw = tilewright;
using enum tw::operand_major;
using tw::arch::gfx942, tw::arch::matrix_op, tw::block_tile, tw::gemm_policy, tw::half_t;

// A bias for accumulators that stay integers.
// EXPECT: gemm: accumulators that stay integers can only be scaled by alpha and beta
struct integers : gemm_policy<gfx942, tw::int8_t, k, k, 16> {
  using epilogue = tw::epilogue::bias;
};
void f(const tw::gemm_args& args) { tw::gemm_kernel<integers>{}(args); }

// A of half_t and B of bfloat16_t.
// EXPECT: only 8-bit floating-point numbers may be mixed
// EXPECT(gcc): only 8-bit floating-point numbers may be mixed
struct mixed : gemm_policy<gfx942, half_t, k, k, 8> {
  using b_element_type = tw::bfloat16_t;
};
int main() { return tw::gemm_kernel<mixed>::block_size; }

// Two buffers of 256 x 128 elements for each operand are more than the 64 KiB of gfx942.
// EXPECT: gemm: the block tile needs more LDS than this target has; use a smaller block tile or fewer stages
using kernel_lds = gemm_policy<gfx942, half_t, k, k, 8, block_tile{256, 256, 128, 2, 2, matrix_op::mfma_32x32x8_x2}>;
auto size = tw::gemm_kernel<kernel_lds>::block_size;

// A GEMM of doubles.
// EXPECT: matrix_element_v: operands are half_t, bfloat16_t, float, int8_t or an 8-bit float
struct doubles : gemm_policy<gfx942, double, k, k, 2> {};

// OCP fp8 on gfx942, which has the fnuz formats.
// EXPECT: operand_policy: the target does not have this matrix instruction for these elements
constexpr block_tile tile{128, 128, 128, 2, 2, matrix_op::mfma_32x32x16_b8_x2};
constexpr auto block_size = tw::gemm_kernel<gemm_policy<gfx942, tw::fp8_ocp_t, k, k, 16, tile>>::block_size;

// bf16 on gfx908, whose instructions take half as much of k.
// EXPECT: operand_policy: the target does not have this matrix instruction for these elements
struct brains : gemm_policy<tw::arch::gfx908, tw::bfloat16_t, k, k, 8> {};

// An instruction of gfx1201 on gfx942.
// EXPECT: operand_policy: the target does not have this matrix instruction for these elements
using instruction = gemm_policy<gfx942, half_t, k, k, 8, block_tile{64, 64, 32, 2, 2, matrix_op::wmma_16x16x16_gfx12}>;
auto instruction_major = instruction::a_major;

// A block tile with 48 of k.
// EXPECT: operand_policy: k of the block tile must be a power of two
using power_of_two = gemm_policy<gfx942, half_t, k, k, 8, block_tile{64, 64, 48, 1, 2, matrix_op::mfma_32x32x8}>;
auto power_of_two_major = power_of_two::a_major;

// A block tile of 48 rows for two waves with instructions of 32 rows.
// EXPECT: operand_policy: the block tile is not a whole number of matrix instructions for each wave
using forty_eight_rows = gemm_policy<gfx942, half_t, k, k, 8, block_tile{48, 64, 32, 2, 2, matrix_op::mfma_32x32x8}>;
auto forty_eight_rows_major = forty_eight_rows::a_major;

// A block tile of which half of the threads would copy nothing.
// EXPECT: operand_policy: the block tile has less than 16 bytes of each operand for each thread, or the threads cannot share them in whole vectors; use fewer waves or a larger block tile
// EXPECT(gcc): operand_policy: the block tile has less than 16 bytes of each operand for each thread, or the threads cannot share them in whole vectors; use fewer waves or a larger block tile
using too_small = gemm_policy<gfx942, half_t, k, k, 8, block_tile{16, 16, 16, 1, 1, matrix_op::mfma_16x16x16}>;
auto too_small_major = too_small::a_major;

// Vectors of three elements, and of 32 bytes.
// EXPECT(2): operand_policy: Vector must be a power of two, and at most 16 bytes; 1 where memory guarantees nothing
struct three : gemm_policy<gfx942, half_t, k, k, 3> {};
struct sixteen : gemm_policy<gfx942, half_t, k, k, 16> {};
