// SPDX-License-Identifier: MIT
// GEMM kernels for elements of 8 and of 32 bits, and results of other types than the operands'.
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum arch::matrix_op;
using enum operand_major;

template <class Base, class Result>
struct with_result : Base {
  using result_type = Result;
};

TEST(GemmTypes, Float) {
  expect_all_gemms<gemm_policy<arch::gfx942, float, k, mn, 4, block_tile{64, 64, 32, 2, 2, mfma_32x32x2_b32_x4}>>();
  expect_all_gemms<gemm_policy<arch::gfx90a, float, mn, k, 1, block_tile{32, 32, 32, 1, 1, mfma_16x16x4_b32_x4}>>();
}

TEST(GemmTypes, Fp8) {
  expect_all_gemms<
      gemm_policy<arch::gfx942, fp8_fnuz_t, k, mn, 16, block_tile{64, 64, 64, 2, 2, mfma_32x32x16_b8_x2}>>();
  expect_all_gemms<gemm_policy<arch::gfx950, bf8_ocp_t, k, k, 16, block_tile{64, 64, 128, 2, 2, mfma_32x32x64_b8}>>();
  using rdna4 =
      gemm_policy<arch::gfx1201, fp8_ocp_t, mn, k, 1, block_tile{32, 64, 64, 1, 2, wmma_16x16x16_b8_x2_gfx12}>;
  expect_all_gemms<with_result<rdna4, half_t>>();
}

template <class Base, class BElement>
struct with_b_of : Base {
  using b_element_type = BElement;
};

TEST(GemmTypes, Fp8AndBf8) {
  expect_all_gemms<
      with_b_of<gemm_policy<arch::gfx942, fp8_fnuz_t, k, k, 16, block_tile{64, 64, 64, 2, 2, mfma_32x32x16_b8_x2}>,
                bf8_fnuz_t>>();
  expect_all_gemms<
      with_b_of<gemm_policy<arch::gfx942, bf8_fnuz_t, mn, k, 1, block_tile{32, 32, 64, 1, 1, mfma_16x16x32_b8_x2}>,
                fp8_fnuz_t>>();
  expect_all_gemms<with_b_of<
      gemm_policy<arch::gfx950, bf8_ocp_t, k, mn, 16, block_tile{64, 64, 128, 2, 2, mfma_32x32x64_b8}>, fp8_ocp_t>>();
  expect_all_gemms<with_b_of<
      gemm_policy<arch::gfx1201, fp8_ocp_t, k, k, 16, block_tile{32, 64, 64, 1, 2, wmma_16x16x16_b8_x2_gfx12}>,
      bf8_ocp_t>>();
}

TEST(GemmTypes, ResultsOf8BitsSaturate) {
  using fp8 = gemm_policy<arch::gfx942, fp8_fnuz_t, k, k, 16, block_tile{64, 64, 64, 2, 2, mfma_32x32x16_b8_x2}>;
  expect_gemm<with_result<fp8, fp8_fnuz_t>>({.m = 80, .n = 64, .k = 256, .alpha = 16});
  using int8 = gemm_policy<arch::gfx942, int8_t, k, k, 1, block_tile{64, 64, 64, 2, 2, mfma_32x32x16_b8_x2}>;
  expect_gemm<with_result<int8, int8_t>>({.m = 65, .n = 63, .k = 100, .alpha = 4});
}

TEST(GemmTypes, Int8ToInt) {
  expect_gemm<gemm_policy<arch::gfx90a, int8_t, k, k, 16, block_tile{64, 64, 64, 2, 2, mfma_32x32x8_b8_x4}>>(
      {.m = 80, .n = 48, .k = 208, .beta = 1, .batch = 2, .gap = 16});
  expect_gemm<gemm_policy<arch::gfx942, int8_t, mn, mn, 16, block_tile{64, 64, 64, 2, 2, mfma_32x32x16_b8_x2}>>(
      {.m = 80, .n = 48, .k = 77, .alpha = 3, .beta = -2});
  expect_gemm<gemm_policy<arch::gfx950, int8_t, k, mn, 16, block_tile{64, 64, 128, 2, 2, mfma_32x32x32_b8}>>(
      {.m = 80, .n = 48, .k = 160});
  expect_gemm<gemm_policy<arch::gfx1100, int8_t, k, mn, 1, block_tile{32, 32, 64, 1, 1, wmma_16x16x16_b8_gfx11},
                          double_buffered_pipeline>>({.m = 33, .n = 31, .k = 67});
}

TEST(GemmTypes, IntegersAreScaledByIntegers) {
  using kernel = gemm_kernel<gemm_policy<arch::gfx942, int8_t, k, k, 1>>;
  gemm_args args{.m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = 1};
  EXPECT_STREQ(kernel::check(args), nullptr);
  for (const float alpha : {0.5f, 0x1p24f, __builtin_nanf("")}) {
    args.alpha = alpha;
    EXPECT_STREQ(kernel::check(args),
                 "accumulators of integers can only be scaled by integers of less than 2^24: alpha and beta");
  }
}

}  // namespace
}  // namespace tilewright::testing_gemm
