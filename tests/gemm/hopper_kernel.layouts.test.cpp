// SPDX-License-Identifier: MIT
// Hopper GEMM kernels on the CPU backend: each layout of the operands, without an epilogue, with one that is chosen
// at compile time, and with one that the arguments choose.
#include "check_hopper.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;

template <operand_major AMajor, operand_major BMajor, index_t Tile>
void expect_layout(const problem& p) {
  expect_hopper<hopper_policy<half_t, AMajor, BMajor, hopper_tiles[Tile]>>(p);
  using fixed = hopper_policy<half_t, AMajor, BMajor, hopper_tiles[Tile], half_t, every_part>;
  using flexible = hopper_policy<half_t, AMajor, BMajor, hopper_tiles[Tile], half_t, epilogue::from_args>;
  expect_hopper<fixed>(p);
  hopper_case<fixed> wanted(p);
  hopper_case<flexible> gemm(p);
  gemm.args.activation = activation::relu;
  ASSERT_STREQ(hopper_check<flexible>(gemm.args), nullptr);
  launch_hopper<flexible>(gemm.args, {.check_lds = emulator::lds_checks::on});
  gemm.expected = wanted.expected;
  expect_result(gemm);
}

TEST(HopperKernel, AContiguousAlongK) {
  expect_layout<k, k, 7>({.m = 72, .n = 72, .k = 200, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8});
  expect_layout<k, mn, 2>({.m = 264, .n = 328, .k = 72, .gap = 8});
}
TEST(HopperKernel, AContiguousAlongM) {
  expect_layout<mn, k, 6>({.m = 200, .n = 136, .k = 136, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8});
  expect_layout<mn, mn, 3>({.m = 200, .n = 392, .k = 136, .gap = 8});
}

TEST(HopperKernel, EpiloguesReadPairsOfElements) {
  using policy = hopper_policy<half_t, k, k, hopper_tiles[7], half_t, epilogue::from_args>;
  hopper_case<policy> gemm({.m = 64, .n = 64, .k = 64});
  gemm.args.bias = gemm.bias.data() + 1;
  EXPECT_NE(hopper_check<policy>(gemm.args), nullptr);
  gemm.args.bias = gemm.bias.data();
  gemm.args.ld_residual = 65;
  EXPECT_NE(hopper_check<policy>(gemm.args), nullptr);
  gemm.args.ld_residual = 64;
  EXPECT_EQ(hopper_check<policy>(gemm.args), nullptr);
}

}  // namespace
}  // namespace tilewright::testing_gemm
