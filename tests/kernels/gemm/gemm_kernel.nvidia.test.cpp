// SPDX-License-Identifier: MIT
// GEMM kernels for sm_80 and sm_90.
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum arch::matrix_op;

TEST(GemmOn_sm80, Mma) {
  expect_some_layouts<arch::sm80, block_tile{32, 32, 32, 1, 1, mma_m16n8k16_x2}>();
  expect_some_layouts<arch::sm80, block_tile{64, 64, 16, 2, 2, mma_m16n8k16_x2}>();
}
TEST(GemmOn_sm90, Mma) {
  expect_all_layouts<arch::sm90, block_tile{32, 64, 32, 1, 2, mma_m16n8k16_x2}>();
  expect_all_layouts<arch::sm90, block_tile{64, 64, 64, 4, 2, mma_m16n8k16_x2}>();
}

}  // namespace
}  // namespace tilewright::testing_gemm
