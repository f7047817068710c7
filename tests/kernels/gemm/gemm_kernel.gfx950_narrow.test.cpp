// SPDX-License-Identifier: MIT
// GEMM kernels for gfx950_narrow, with each of its matrix instructions.
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum arch::matrix_op;
using target = arch::gfx950;

TEST(GemmOn_gfx950, Mfma16x16x16) { expect_all_layouts<target, block_tile{64, 64, 32, 2, 2, mfma_16x16x16}>(); }
TEST(GemmOn_gfx950, Mfma32x32x8Pair) { expect_all_layouts<target, block_tile{128, 64, 32, 2, 1, mfma_32x32x8_x2}>(); }
}  // namespace
}  // namespace tilewright::testing_gemm
