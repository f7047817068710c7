// SPDX-License-Identifier: MIT
// GEMM with narrow weights on the CPU emulator: every bit of C, for all formats, on random shapes.
#include "check_narrow.hpp"

namespace tilewright::testing_narrow {
namespace {

using enum operand_major;
template <class T, class Format, index_t M, index_t N, index_t K, operand_major AMajor = k, class Result = T>
using policy = hopper_narrow_policy<T, AMajor, Format, hopper_gemm_tile{.m = M, .n = N, .swap_ab = true}, K, Result>;

TEST(HopperNarrowGemm, Int4) {
  expect_narrow<policy<bfloat16_t, int4_groups<128>, 128, 32, 128>>({.m = 37, .n = 200, .k = 512});
  using zeros = policy<half_t, int4_zero_groups<64, half_t>, 128, 16, 256>;
  expect_narrow<zeros>({.m = 16, .n = 136, .k = 328, .batch = 2});
  using columns = policy<bfloat16_t, int4_zero_groups<32>, 256, 64, 128, mn>;
  expect_narrow<columns>({.m = 72, .n = 40, .k = 200, .beta = 2, .aligned_scales = false});
}

TEST(HopperNarrowGemm, PassesInExploredSchedules) {
  explore_narrow<policy<bfloat16_t, int4_groups<128>, 128, 32, 128>>({.m = 32, .n = 128, .k = 384});
  explore_narrow<policy<half_t, e4m3_groups<>, 256, 32, 128>>({.m = 30, .n = 264, .k = 144, .beta = 1});
}

TEST(HopperNarrowGemm, Fp4) {
  expect_narrow<policy<bfloat16_t, mxfp4_format, 128, 48, 256>>({.m = 50, .n = 136, .k = 808});
  expect_narrow<policy<half_t, nvfp4_format, 256, 16, 64>>({.m = 24, .n = 264, .k = 152, .alpha = 0.5f});
  expect_narrow<policy<bfloat16_t, nvfp4_format, 128, 16, 256>>({.m = 7, .n = 72, .k = 1024});
}

TEST(HopperNarrowGemm, EightBits) {
  expect_narrow<policy<bfloat16_t, int8_groups<>, 128, 24, 64>>({.m = 30, .n = 136, .k = 200, .batch = 2});
  expect_narrow<policy<half_t, e4m3_groups<>, 256, 32, 128>>({.m = 30, .n = 264, .k = 144, .beta = 1});
  expect_narrow<policy<bfloat16_t, mxfp8_format, 256, 16, 128>>({.m = 30, .n = 136, .k = 304});
}

TEST(HopperNarrowGemm, OwnFormat) {
  using own = policy<bfloat16_t, powers_of_two, 128, 40, 64>;
  expect_narrow<own>({.m = 40, .n = 136, .k = 200});
  narrow_args args{};
  args.m = args.n = args.k = 64, args.lda = args.ldb = args.ldc = 64;
  EXPECT_EQ(hopper_narrow_gemm<own>::check(args), nullptr);
  args.split_k = 2;
  EXPECT_STREQ(hopper_narrow_gemm<own>::check(args),
               "hopper_narrow_gemm does not split k into equal parts: set split_k to 1");
  args.split_k = 1, args.ldb = 72;
  EXPECT_STREQ(hopper_narrow_gemm<own>::check(args),
               "columns of a narrow B must start at multiples of 16 bytes: b, ldb and batch_stride_b");
  args.ldb = 64, args.lda = 66;
  EXPECT_NE(hopper_narrow_gemm<own>::check(args), nullptr);
}

/// Blocks that share rows of A, and the last round of tiles split along k.
TEST(HopperNarrowGemm, ClustersAndSplits) {
  constexpr hopper_gemm_tile pair{.m = 128, .n = 32, .cluster_m = 2, .swap_ab = true};
  expect_narrow<hopper_narrow_policy<bfloat16_t, k, int4_groups<128>, pair, 256>>(
      {.m = 38, .n = 392, .k = 512, .beta = 1});
  expect_narrow<policy<half_t, int8_groups<>, 128, 16, 128>>({.m = 16, .n = 136, .k = 1408});
}

}  // namespace
}  // namespace tilewright::testing_narrow
