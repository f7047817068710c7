// SPDX-License-Identifier: MIT
// GEMM kernels for gfx942, with each of its matrix instructions.
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum arch::matrix_op;
using target = arch::gfx942;

TEST(GemmOn_gfx942, Mfma16x16x16) { expect_all_layouts<target, block_tile{64, 32, 32, 2, 1, mfma_16x16x16}>(); }
TEST(GemmOn_gfx942, Mfma16x16x16Pair) { expect_all_layouts<target, block_tile{32, 64, 64, 1, 2, mfma_16x16x16_x2}>(); }
TEST(GemmOn_gfx942, Mfma32x32x8) { expect_all_layouts<target, block_tile{32, 32, 32, 1, 1, mfma_32x32x8}>(); }
TEST(GemmOn_gfx942, Mfma32x32x8Pair) { expect_all_layouts<target, block_tile{128, 64, 32, 2, 2, mfma_32x32x8_x2}>(); }

TEST(GemmOn_gfx942, FewRows) {
  using policy = gemm_16x64<target, bfloat16_t, operand_major::k, operand_major::k, 8>;
  static_assert(require_conflict_free_gemm<policy>());
  for (index_t tiles = 1; tiles <= 2 * policy::pipeline::num_stages + 1; ++tiles)
    expect_gemm<policy>(
        {.m = 5 + tiles, .n = 72, .k = tiles * 128 - tiles % 2 * 8, .alpha = 0.5f, .beta = 1, .gap = 8});
}
}  // namespace
}  // namespace tilewright::testing_gemm
