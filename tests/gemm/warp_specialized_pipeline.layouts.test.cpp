// SPDX-License-Identifier: MIT
// Kernels of warp_specialized_pipeline on the CPU machine: each layout of the operands, without an epilogue, with one
// that is chosen at compile time, and with one that the arguments choose.
#include "check_specialized.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;

template <operand_major AMajor, operand_major BMajor, index_t Tile>
void expect_layout(const problem& p) {
  expect_specialized<gemm_specialized<half_t, AMajor, BMajor, specialized_tiles[Tile]>>(p);
  using fixed = gemm_specialized<half_t, AMajor, BMajor, specialized_tiles[Tile], half_t, every_part>;
  using flexible = gemm_specialized<half_t, AMajor, BMajor, specialized_tiles[Tile], half_t, epilogue::from_args>;
  expect_specialized<fixed>(p);
  specialized_case<fixed> wanted(p);
  specialized_case<flexible> gemm(p);
  gemm.args.activation = activation::relu;
  ASSERT_STREQ(gemm_kernel<flexible>::check(gemm.args), nullptr);
  launch_specialized<flexible>(gemm.args, {.check_lds = emulator::lds_checks::on});
  gemm.expected = wanted.expected;
  expect_result(gemm);
}

TEST(WarpSpecializedPipeline, AContiguousAlongK) {
  expect_layout<k, k, 7>({.m = 72, .n = 72, .k = 200, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8});
  expect_layout<k, mn, 2>({.m = 264, .n = 328, .k = 72, .gap = 8});
}
TEST(WarpSpecializedPipeline, AContiguousAlongM) {
  expect_layout<mn, k, 6>({.m = 200, .n = 136, .k = 136, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8});
  expect_layout<mn, mn, 3>({.m = 200, .n = 392, .k = 136, .gap = 8});
}

TEST(WarpSpecializedPipeline, EpiloguesReadPairsOfElements) {
  using policy = gemm_specialized<half_t, k, k, specialized_tiles[7], half_t, epilogue::from_args>;
  specialized_case<policy> gemm({.m = 64, .n = 64, .k = 64});
  gemm.args.bias = gemm.bias.data() + 1;
  EXPECT_NE(gemm_kernel<policy>::check(gemm.args), nullptr);
  gemm.args.bias = gemm.bias.data();
  gemm.args.ld_residual = 65;
  EXPECT_NE(gemm_kernel<policy>::check(gemm.args), nullptr);
  gemm.args.ld_residual = 64;
  EXPECT_EQ(gemm_kernel<policy>::check(gemm.args), nullptr);
}

}  // namespace
}  // namespace tilewright::testing_gemm
