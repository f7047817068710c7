// SPDX-License-Identifier: MIT
// Narrow weights by one call: a kernel that the program has, on the CPU emulator, and wrong calls.
#include <tilewright/ops/narrow_gemm.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <tilewright.h>
#include <tilewright/jit/narrow_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
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

/// Rows of codes of Bits bits with e8m0 scales for 32 elements, on the emulated GPU.
struct mx_rows {
  int batch, rows, k, bits;
  ops_test::on_gpu<tilewright::int8_t> codes, scales;

  mx_rows(int b, int r, int length, int element_bits, unsigned seed)
      : batch(b),
        rows(r),
        k(length),
        bits(element_bits),
        codes({b, r, length * element_bits / 8}),
        scales({b, r, length / 32}) {
    std::mt19937 random(seed);
    for (auto& x : codes.data) x = static_cast<signed char>(random() & (bits == 8 ? 0xb7u : 0xffu));  // no NaN of e4m3
    for (auto& x : scales.data) x = static_cast<signed char>(124 + random() % 5);
    codes.upload(), scales.upload();
  }
  double number(int b, int row, int at) const {
    const std::size_t bit = (std::size_t(b * rows + row) * std::size_t(k) + std::size_t(at)) * std::size_t(bits);
    const auto byte = [&](std::size_t i) { return i < codes.data.size() ? unsigned(codes.data[i]) & 0xffu : 0u; };
    const unsigned code = (byte(bit / 8) | byte(bit / 8 + 1) << 8) >> bit % 8 & ((1u << bits) - 1);
    const auto scale = e8m0_t::from_bits(static_cast<unsigned char>(
        scales.data[std::size_t(b * rows + row) * std::size_t(k / 32) + std::size_t(at / 32)]));
    const auto of = [&]<class E>(E e) {
      e.bits = static_cast<unsigned char>(code);
      return double(float(e)) * double(float(scale));
    };
    return bits == 4 ? of(fp4_e2m1_t{}) : bits == 6 ? of(tilewright::fp6_e2m3_t{}) : of(tilewright::fp8_ocp_t{});
  }
  tw::narrow_weights view(tw::weight_format format) const {
    return {.format = format, .codes = codes.view, .scales = scales.view};
  }
};

/// In a batch, with k shared by blocks.
TEST(NarrowGemm, BothOperandsOnAGpu) {
  const mx_rows a(2, 20, 1024, 8, 1), b(2, 24, 1024, 4, 2);
  ops_test::on_gpu<bfloat16_t> c({2, 20, 24});
  tw::narrow_gemm(c, a.view(tw::weight_format::mxfp8), b.view(tw::weight_format::mxfp4), {.alpha = 0.5f});
  c.download();
  for (int z = 0; z < 2; ++z)
    for (int m = 0; m < 20; ++m)
      for (int n = 0; n < 24; ++n) {
        double sum = 0, size = 0;
        for (int k = 0; k < 1024; ++k) {
          const double term = 0.5 * a.number(z, m, k) * b.number(z, n, k);
          sum += term, size += std::abs(term);
        }
        ASSERT_NEAR(double(float(c.data[std::size_t((z * 20 + m) * 24 + n)])), sum,
                    std::abs(sum) * 0x1p-8 + size * 1e-5);
      }
  EXPECT_EQ(message_of([&] { tw::narrow_gemm(c, a.view(tw::weight_format::mxfp4), b.view(tw::weight_format::mxfp4)); }),
            "narrow_gemm: A's codes are i8 (2, 20, 1024), codes i8 (2, 24, 512) and C bf16 (2, 20, 24); they must be "
            "(m, k / 2), (n, k / 2) and (m, n)");
  const mx_rows three(3, 24, 1024, 4, 3);
  EXPECT_EQ(
      message_of([&] { tw::narrow_gemm(c, a.view(tw::weight_format::mxfp8), three.view(tw::weight_format::mxfp4)); }),
      "narrow_gemm: A's codes are i8 (2, 20, 1024), codes i8 (3, 24, 512) and C bf16 (2, 20, 24); C and A have a "
      "batch of the same length, and B has it or none");
}

TEST(NarrowGemm, WeightsOfSixBitsOnAGpu) {
  const mx_rows b(1, 24, 192, 6, 4);
  const ops_test::on_gpu<bfloat16_t> a({3, 192}, 5);
  ops_test::on_gpu<bfloat16_t> c({3, 24});
  tw::narrow_weights weights = b.view(tw::weight_format::mxfp6_e2m3);
  weights.codes = tw::packed(b.codes.view.data, tw::element::i8, {24, 144});
  weights.scales = tw::packed(b.scales.view.data, tw::element::i8, {24, 6});
  tw::narrow_gemm(c, a, weights);
  c.download();
  for (int m = 0; m < 3; ++m)
    for (int n = 0; n < 24; ++n) {
      double sum = 0;
      for (int k = 0; k < 192; ++k) sum += double(float(a.data[std::size_t(m * 192 + k)])) * b.number(0, n, k);
      ASSERT_NEAR(double(float(c.data[std::size_t(m * 24 + n)])), sum, std::abs(sum) * 0x1p-8 + 1e-2);
    }
}

/// Which kernel a problem gets.
TEST(NarrowGemm, KernelsByTarget) {
  tilewright::jit::narrow_gemm_problem p{.format = tilewright::jit::narrow_format_of("mxfp4")};
  tilewright::narrow_args& g = p.args;
  g.m = 60, g.n = 512, g.k = 4096, g.lda = g.ldb = 4096, g.ldc = 512;
  const auto on_hopper = tilewright::jit::narrow_gemm(p)("sm_90a");
  EXPECT_EQ(on_hopper.name, "hopper_narrow_gemm_mxfp4_128x64x128_bf16_to_bf16");
  EXPECT_EQ(tilewright::jit::narrow_gemm_workspace(p, "sm_90a"), tilewright::hopper_gemm_workspace::bytes);
  g.n = g.ldc = 508;  // rows of C that TMA cannot store
  EXPECT_EQ(tilewright::jit::narrow_gemm(p)("sm_90a").name.substr(0, 19), "narrow_gemm_mxfp4_1");
  EXPECT_EQ(tilewright::jit::narrow_gemm_splits(p, "gfx942", 304), 16);
  g.split_k = 4;
  EXPECT_EQ(tilewright::jit::narrow_gemm(p)("gfx942").name, "narrow_gemm_mxfp4_128x128_v1_bf16_to_bf16_split");
  const auto at = [](long long gigabytes) { return reinterpret_cast<void*>(gigabytes << 30); };
  g.c = at(1), g.a = at(2), g.b = at(3), g.b_scales = at(4);
  EXPECT_STREQ(tilewright::jit::narrow_gemm(p)("gfx942").host.check(&g),
               "split_k needs a workspace, of workspace_bytes(args)");
  g.workspace = at(5);
  EXPECT_EQ(tilewright::jit::narrow_gemm(p)("gfx942").host.check(&g), nullptr);
  EXPECT_EQ(tilewright::jit::narrow_gemm(p)("gfx942").host.grid(&g).y, 4);
  tilewright::jit::narrow_operands_problem both{.a_format = p.format,
                                                .format = tilewright::jit::narrow_format_of("mxfp8")};
  both.args.m = both.args.n = 512, both.args.k = both.args.lda = both.args.ldb = 4096, both.args.ldc = 512;
  EXPECT_EQ(tilewright::jit::narrow_gemm(both)("gfx950").name,
            "narrow_gemm_scaled_mxfp4_x_mxfp8_256x256_v8_bf16_to_bf16");
  both.args.k = 4096 - 16;  // no whole blocks of 32
  EXPECT_EQ(tilewright::jit::narrow_gemm(both)("gfx950").name, "narrow_gemm_mxfp4_x_mxfp8_128x128_v8_bf16_to_bf16");
}

/// Rows of e4m3 times MXFP4 have a kernel of their own on Hopper, whose row factors are the scales of A.
TEST(NarrowGemm, Fp8RowsTimesMxfp4OnHopper) {
  tilewright::jit::narrow_operands_problem p{.a_format = tilewright::jit::narrow_format_of("e4m3"),
                                             .format = tilewright::jit::narrow_format_of("mxfp4")};
  tilewright::scaled_args& g = p.args;
  g.m = 600, g.n = 512, g.k = g.lda = g.ldb = 4096, g.ldc = 512;
  const auto name = [&] { return tilewright::jit::narrow_gemm(p)("sm_90a").name; };
  const auto source = tilewright::jit::narrow_gemm(p)("sm_90a");
  EXPECT_EQ(source.name, "hopper_narrow_gemm_mxfp4_128x256x128_e4m3_to_bf16_epilogue");
  EXPECT_NE(source.code.find("tw::hopper_narrow_policy<tw::fp8_ocp_t, tw::operand_major::k, tw::mxfp4_format, "),
            std::string::npos)
      << source.code;
  EXPECT_NE(source.code.find("tw::epilogue::from_args"), std::string::npos) << source.code;
  EXPECT_EQ(tilewright::jit::narrow_gemm_workspace(p, "sm_90a"), tilewright::hopper_gemm_workspace::bytes);
  EXPECT_EQ(tilewright::jit::narrow_gemm_splits(p, "sm_90a", 132), 1);
  const auto at = [](long long gigabytes) { return reinterpret_cast<void*>(gigabytes << 30); };
  g.c = at(1), g.a = at(2), g.b = at(3), g.b_scales = at(4), g.a_scales = at(5);
  EXPECT_EQ(source.host.check(&g), nullptr);
  g.lda = 4096 + 8;
  EXPECT_NE(source.host.check(&g), nullptr) << "rows of A at multiples of 8 bytes";
  EXPECT_EQ(name().substr(0, 19), "narrow_gemm_e4m3_x_");
  g.lda = 4096;
  const float factors = 1;
  g.row_scale = &factors;  // A's scales and others
  EXPECT_EQ(name().substr(0, 19), "narrow_gemm_e4m3_x_");
  g.row_scale = nullptr, g.batch = 2;
  EXPECT_EQ(name().substr(0, 19), "narrow_gemm_e4m3_x_");
  g.batch = 1, g.ld_a_scales = 3;
  EXPECT_EQ(name().substr(0, 19), "narrow_gemm_e4m3_x_");
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
