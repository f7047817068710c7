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

/// An element times its scale is rounded once, to the type of A; nothing else is. For every kind of last group.
TEST(HopperNarrowGemm, ScaledElementsAreRoundedOnce) {
  using P = policy<bfloat16_t, int4_groups<32>, 128, 24, 128>;
  std::mt19937 random(30);
  for (const index_t k : {1, 30, 31, 33, 63, 95}) {
    narrow_case<P> x({.m = 19, .n = 136, .k = k, .aligned_scales = k % 2 == 0});
    for (auto& scale : x.scales) scale = bfloat16_t(0.005f + 0.05f * float(random() % 1024) / 1024);
    launch<hopper_narrow_gemm<P>>(x.args, {.workers = 1, .resident_clusters = 2});
    double largest_rounding = 0;
    for (index_t n = 0; n < x.args.n; ++n) {
      for (index_t m = 0; m < x.args.m; ++m) {
        double sum = 0, exact_sum = 0, size = 0;
        for (index_t i = 0; i < k; ++i) {
          const auto at = std::size_t(n) * std::size_t(x.args.ldb) + std::size_t(i);
          const double code = int(x.w[at / 2] >> at % 2 * 4 & 15) - 8,
                       exact = code *
                               float(x.scales[std::size_t(n) * std::size_t(x.args.ld_b_scales) + std::size_t(i / 32)]),
                       a = float(x.a_at(0, m, i));
          sum += a * float(bfloat16_t(float(exact))), exact_sum += a * exact, size += std::abs(a * exact);
        }
        const double result = float(x.c[std::size_t(m) * std::size_t(x.args.ldc) + std::size_t(n)]);
        ASSERT_NEAR(result, sum, 0x1p-8 * std::abs(sum) + 1e-6 * size)
            << "row " << m << ", column " << n << ", k " << k;
        largest_rounding = std::max(largest_rounding, std::abs(sum - exact_sum) / std::max(size, 1e-30));
      }
    }
    EXPECT_LE(largest_rounding, 0x1p-8) << "to bfloat16_t's eight bits";
    EXPECT_GT(largest_rounding, 0x1p-11) << "scales that need no rounding";
  }
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

TEST(HopperNarrowGemm, Fp4TimesFp8) {
  expect_narrow<policy<fp8_ocp_t, mxfp4_format, 128, 48, 256, k, bfloat16_t>>({.m = 50, .n = 136, .k = 816});
  expect_narrow<policy<fp8_ocp_t, mxfp4_format, 256, 16, 128, k, half_t>>(
      {.m = 24, .n = 264, .k = 144, .alpha = 0.5f, .beta = 1, .batch = 2, .aligned_scales = false});
  explore_narrow<policy<fp8_ocp_t, mxfp4_format, 256, 16, 128, k, half_t>>({.m = 13, .n = 128, .k = 272});
}

/// Row m of A has numbers in group m alone. Where its scale is at least 2^-14 of the column's largest, C is exact.
TEST(HopperNarrowGemm, Fp4TimesFp8OfScalesFarApart) {
  using P = policy<fp8_ocp_t, mxfp4_format, 256, 16, 128, k, half_t>;
  std::mt19937 random(8);
  for (const index_t span : {14, 30, 230}) {
    narrow_case<P> x({.m = 13, .n = 128, .k = 416, .aligned_scales = span != 14});
    for (index_t m = 0; m < 13; ++m)
      for (index_t i = 0; i < 416; ++i)
        if (i / 32 != m) x.a[std::size_t(m) * std::size_t(x.args.lda) + std::size_t(i)] = fp8_ocp_t(0.0f);
    const auto exponent = [&](index_t n, index_t g) -> unsigned char& {
      return x.scales[std::size_t(n) * std::size_t(x.args.ld_b_scales) + std::size_t(g)].bits;
    };
    for (index_t n = 0; n < 128; ++n) {
      const index_t top = (span == 230 ? 230 : 127) + n % 5;  // the largest of each column
      for (index_t g = 0; g < 13; ++g)
        exponent(n, g) = static_cast<unsigned char>(top - index_t(random() % unsigned(span + 1)));
    }
    exponent(5, 7) = 255;  // NaN
    x.args.alpha = span == 230 ? 0x1p-108f : 0.125f;
    launch<hopper_narrow_gemm<P>>(x.args, {.workers = 1, .resident_clusters = 2});
    index_t small = 0;
    for (index_t n = 0; n < 128; ++n) {
      index_t largest = 0;
      for (index_t g = 0; g < 13; ++g) largest = std::max(largest, index_t(exponent(n, g)));
      for (index_t m = 0; m < 13; ++m) {
        const float result = x.c[std::size_t(m) * std::size_t(x.args.ldc) + std::size_t(n)];
        if (n == 5) {
          EXPECT_TRUE(std::isnan(result));
          continue;
        }
        double sum = 0, of_a = 0;
        for (index_t i = m * 32; i < m * 32 + 32; ++i) {
          const auto at = std::size_t(n) * std::size_t(x.args.ldb) + std::size_t(i);
          const double a = float(x.a_at(0, m, i)) * double(x.args.alpha);
          sum += a * value_of<mxfp4_format>(unsigned(x.w[at / 2]) >> at % 2 * 4 & 15, 0) *
                 std::ldexp(1.0, exponent(n, m) - 127);
          of_a += std::abs(a);
        }
        const bool is_exact = largest - exponent(n, m) <= 14;
        small += !is_exact;
        if (is_exact)
          ASSERT_EQ(result, float(half_t(float(sum)))) << "row " << m << ", column " << n << ", span " << span;
        else
          ASSERT_NEAR(result, sum, of_a * 6 * std::ldexp(0x1p-18, largest - 127) + 0x1p-11 * std::abs(sum) + 0x1p-25)
              << "row " << m << ", column " << n << ", span " << span;
      }
    }
    EXPECT_EQ(small > 100, span > 14);
  }
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
