// SPDX-License-Identifier: MIT
// GEMM kernels for gfx950, with each of its matrix instructions.
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum arch::matrix_op;
using target = arch::gfx950;

TEST(GemmOn_gfx950, Mfma16x16x16Pair) { expect_all_layouts<target, block_tile{32, 32, 32, 1, 1, mfma_16x16x16_x2}>(); }
TEST(GemmOn_gfx950, Mfma32x32x8) { expect_all_layouts<target, block_tile{64, 64, 32, 2, 2, mfma_32x32x8}>(); }
TEST(GemmOn_gfx950, Mfma16x16x32) { expect_all_layouts<target, block_tile{32, 64, 32, 1, 2, mfma_16x16x32}>(); }
TEST(GemmOn_gfx950, Mfma32x32x16) { expect_all_layouts<target, block_tile{64, 64, 64, 2, 2, mfma_32x32x16}>(); }
}  // namespace
}  // namespace tilewright::testing_gemm
