// SPDX-License-Identifier: MIT
// Narrow weights by one call: a kernel that the program has, on the CPU emulator, and wrong calls.
#include <tilewright/ops/narrow_gemm.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <tilewright.h>
#include <tilewright/jit/narrow_gemm.hpp>
#include <tilewright/ops/add_kernels.hpp>

#include "on_gpu.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::message_of;
using tilewright::bfloat16_t, tilewright::e8m0_t, tilewright::fp4_e2m1_t;

/// MXFP4 weights in the memory of the program, which is the emulated GPU's.
template <int Rows = 3>
struct mxfp4_rows {
  static constexpr int m = Rows, n = 36, k = 96;
  alignas(16) bfloat16_t a[m * k];
  alignas(16) signed char codes[n * k / 2], scales[n * k / 32];
  alignas(16) bfloat16_t c[m * n], bias[n];

  mxfp4_rows() {
    std::mt19937 random(3);
    for (bfloat16_t& x : a) x = bfloat16_t(float(int(random() % 9) - 4));
    for (signed char& x : codes) x = static_cast<signed char>(random());
    for (signed char& x : scales) x = static_cast<signed char>(124 + random() % 5);
    for (bfloat16_t& x : bias) x = bfloat16_t(float(random() % 5));
  }
  tw::tensor a_view() const { return tw::packed(a, tw::element::bf16, {m, k}); }
  tw::tensor c_view() const { return tw::packed(c, tw::element::bf16, {m, n}); }
  tw::narrow_weights weights() const {
    return {.format = tw::weight_format::mxfp4,
            .codes = tw::packed(codes, tw::element::i8, {n, k / 2}),
            .scales = tw::packed(scales, tw::element::i8, {n, k / 32})};
  }
  double sum(int row, int column) const {
    double total = 0;
    for (int x = 0; x < k; ++x) {
      fp4_e2m1_t code{};
      code.bits = static_cast<unsigned char>(static_cast<unsigned char>(codes[(column * k + x) / 2]) >> x % 2 * 4 & 15);
      const auto scale = e8m0_t::from_bits(static_cast<unsigned char>(scales[(column * k + x) / 32]));
      total += double(float(a[row * k + x])) * double(float(code)) * double(float(scale));
    }
    return total;
  }
};

using mxfp4_case = mxfp4_rows<>;

TEST(NarrowGemm, AnyNumberOfRowsOnAnyTarget) {
  [[maybe_unused]] static const bool added =
      tw::add_narrow_gemm_any<tilewright::arch::gfx942, bfloat16_t, tilewright::mxfp4_format, 33>("mxfp4");
  const mxfp4_rows<37> data;
  tw::configure({.emulate = "gfx942"});
  tw::narrow_gemm(data.c_view(), data.a_view(), data.weights(),
                  {.bias = tw::packed(data.bias, tw::element::bf16, {36})});
  tw::configure({});
  for (int row = 0; row < data.m; ++row)
    for (int column = 0; column < data.n; ++column) {
      const double wanted = data.sum(row, column) + double(float(data.bias[column]));
      ASSERT_NEAR(double(float(data.c[row * data.n + column])), wanted, std::abs(wanted) * 0x1p-8 + 1e-3);
    }
}

TEST(NarrowGemm, RunsOnTheEmulatorWithABias) {
  [[maybe_unused]] static const bool added = tw::add_narrow_gemm<bfloat16_t, tilewright::mxfp4_format, 8>("mxfp4");
  const mxfp4_case data;
  tw::configure({.emulate = "sm_90"});
  tw::narrow_gemm(data.c_view(), data.a_view(), data.weights(),
                  {.alpha = 0.5f, .bias = tw::packed(data.bias, tw::element::bf16, {mxfp4_case::n})});
  for (int row = 0; row < mxfp4_case::m; ++row)
    for (int column = 0; column < mxfp4_case::n; ++column) {
      const double wanted = 0.5 * data.sum(row, column) + double(float(data.bias[column]));
      ASSERT_NEAR(double(float(data.c[row * mxfp4_case::n + column])), wanted, std::abs(wanted) * 0x1p-8 + 1e-3);
    }
  tw::narrow_gemm(data.c_view(), data.a_view(), data.weights());
  EXPECT_NEAR(double(float(data.c[7])), data.sum(0, 7), std::abs(data.sum(0, 7)) * 0x1p-8 + 1e-3);
  tw::configure({});
}

TEST(NarrowGemm, RefusesWrongCalls) {
  const mxfp4_case data;
  tw::configure({.emulate = "sm_90"});
  const auto refused = [&](auto change) {
    tw::narrow_weights b = data.weights();
    tw::tensor a = data.a_view(), c = data.c_view();
    change(b, a, c);
    return message_of([&] { tw::narrow_gemm(c, a, b); });
  };
  EXPECT_EQ(refused([](auto& b, auto&, auto&) { b.codes.lengths[1] = 40; }),
            "narrow_gemm: A is bf16 (3, 96), codes i8 (36, 40) and C bf16 (3, 36); they must be (m, k), (n, k / 2) and "
            "(m, n)");
  EXPECT_EQ(refused([](auto& b, auto&, auto&) { b.scales.lengths[1] = 4; }),
            "narrow_gemm: scales is i8 (36, 4), but must be i8 (36, 3) here");
  EXPECT_EQ(refused([](auto& b, auto&, auto&) { b.codes.type = tw::element::i32; }),
            "narrow_gemm: codes is i32 (36, 48), but must be of i8");
  EXPECT_EQ(refused([](auto& b, auto&, auto&) { b.zeros = b.scales; }), "narrow_gemm: only int4 has zero points");
  EXPECT_EQ(refused([](auto& b, auto&, auto&) { b.format = tw::weight_format::int4, b.group = 96; }),
            "narrow_gemm: group is 96; it must be 32, 64 or a multiple of 128");
  tw::configure({});
}

TEST(NarrowGemm, IsCalledFromC) {
  const mxfp4_case data;
  const auto of = [](const tw::tensor& t) {
    return tilewright_tensor{t.data, int(t.type), t.rank, {t.lengths[0], t.lengths[1]}, {t.strides[0], t.strides[1]}};
  };
  const tilewright_tensor c = of(data.c_view()), a = of(data.a_view()), codes = of(data.weights().codes),
                          scales = of(data.weights().scales);
  tilewright_narrow_gemm_options options = TILEWRIGHT_NARROW_GEMM_OPTIONS;
  options.group = 96;
  EXPECT_EQ(tilewright_narrow_gemm(&c, &a, &codes, &scales, &options), TILEWRIGHT_WRONG_CALL);
  EXPECT_STREQ(tilewright_last_error(), "narrow_gemm: group is 96; it must be 32, 64 or a multiple of 128");
  options.format = TILEWRIGHT_WEIGHT_FORMAT_NVFP4;
  EXPECT_EQ(tilewright_narrow_gemm(&c, &a, &codes, &scales, &options), TILEWRIGHT_WRONG_CALL);
  EXPECT_STREQ(tilewright_last_error(), "narrow_gemm: scales is i8 (36, 3), but must be fp8 (36, 6) here");
  options.format = 17;
  EXPECT_EQ(tilewright_narrow_gemm(&c, &a, &codes, &scales, &options), TILEWRIGHT_WRONG_CALL);
  EXPECT_STREQ(tilewright_last_error(), "narrow_gemm: format is 17, which is no weight_format");
}

TEST(NarrowGemm, TextOfAFormatOfTheUsers) {
  tilewright::jit::narrow_gemm_problem p{
      .format = {.name = "nf4", .type = "nf4", .code = "struct nf4 {};", .bits = 4, .group = 64}};
  p.args.m = 9, p.args.n = 7, p.args.k = 64, p.args.ldc = 7;
  const tilewright::jit::kernel_source source = tilewright::jit::narrow_gemm(p)("sm_90a");
  EXPECT_EQ(source.name, "narrow_gemm_nf4_m16_v1_bf16_to_bf16");
  EXPECT_NE(source.code.find("struct nf4 {};\nstruct policy : tw::narrow_policy<tw::bfloat16_t, nf4, 16, 1, "),
            std::string::npos)
      << source.code;
  const tilewright::jit::kernel_source on_amd = tilewright::jit::narrow_gemm(p)("gfx950");
  EXPECT_EQ(on_amd.name, "narrow_gemm_nf4_16x64_v1_bf16_to_bf16");
  EXPECT_NE(
      on_amd.code.find("struct nf4 {};\nstruct policy : tw::dequantising_policy<tw::arch::current, tw::bfloat16_t, "
                       "tw::plain_format<tw::bfloat16_t>, nf4, "),
      std::string::npos)
      << on_amd.code;
}

}  // namespace
