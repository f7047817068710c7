// SPDX-License-Identifier: MIT
// GEMM kernels for AMD GPUs whose copies to LDS bypass registers: the swizzle is applied to the addresses in global memory.
#include "check_gemm.hpp"

#include <tilewright/arch/arch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum arch::matrix_op;
using enum operand_major;

TEST(GemmDirectToLds, FillsLdsInTheOrderOfTheLanes) {
  using policy = gemm_policy<arch::gfx950, half_t, k, k, 8, block_tile{64, 64, 64, 2, 2, mfma_32x32x16}, multi_stage_pipeline<3>>;
  static_assert(policy::exchanges_lanes);
  static_assert(require_conflict_free_gemm<policy>());
  expect_all_gemms<policy>();
}

TEST(GemmDirectToLds, GoesThroughRegistersWhereTheTargetCannot) {
  using policy = gemm_policy<arch::gfx942, half_t, k, k, 8, block_tile{64, 64, 32, 2, 2, mfma_32x32x8_x2}, multi_stage_pipeline<2>>;
  static_assert(!policy::exchanges_lanes);
  expect_gemm<policy>({.m = 72, .n = 64, .k = 104, .beta = 1, .gap = 8});
}

}  // namespace
}  // namespace tilewright::testing_gemm
