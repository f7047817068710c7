// SPDX-License-Identifier: MIT
// GEMM kernels for gfx1100 and gfx1201.
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum arch::matrix_op;

TEST(GemmOn_gfx1100, Wmma) {
  expect_all_layouts<arch::gfx1100, block_tile{32, 32, 32, 1, 1, wmma_16x16x16_gfx11}>();
  expect_all_layouts<arch::gfx1100, block_tile{64, 64, 16, 2, 2, wmma_16x16x16_gfx11}>();
}
TEST(GemmOn_gfx1201, Wmma) {
  expect_all_layouts<arch::gfx1201, block_tile{32, 64, 32, 1, 2, wmma_16x16x16_gfx12}>();
  expect_all_layouts<arch::gfx1201, block_tile{64, 64, 64, 4, 2, wmma_16x16x16_gfx12}>();
}

}  // namespace
}  // namespace tilewright::testing_gemm
