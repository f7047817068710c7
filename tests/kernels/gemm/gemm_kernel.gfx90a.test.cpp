// SPDX-License-Identifier: MIT
// GEMM kernels for gfx90a, with each of its matrix instructions.
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum arch::matrix_op;
using target = arch::gfx90a;

TEST(GemmOn_gfx90a, Mfma16x16x16) { expect_some_layouts<target, block_tile{32, 32, 32, 1, 1, mfma_16x16x16}>(); }
TEST(GemmOn_gfx90a, Mfma16x16x16Pair) { expect_some_layouts<target, block_tile{64, 32, 64, 2, 1, mfma_16x16x16_x2}>(); }
TEST(GemmOn_gfx90a, Mfma32x32x8) { expect_some_layouts<target, block_tile{64, 64, 32, 2, 2, mfma_32x32x8}>(); }
TEST(GemmOn_gfx90a, Mfma32x32x8Pair) { expect_some_layouts<target, block_tile{64, 128, 32, 1, 2, mfma_32x32x8_x2}>(); }
}  // namespace
}  // namespace tilewright::testing_gemm
