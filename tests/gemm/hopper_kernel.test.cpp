// SPDX-License-Identifier: MIT
// Hopper GEMM kernels on the CPU backend.
#include "check_hopper.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;

TEST(HopperKernel, OneBlockWithOneConsumer) {
  using policy = hopper_policy<half_t, k, k, hopper_tiles[7]>;
  expect_hopper<policy>({.m = 64, .n = 64, .k = 64});
  expect_hopper<policy>({.m = 65, .n = 72, .k = 200, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8});
}

}  // namespace
}  // namespace tilewright::testing_gemm
