// SPDX-License-Identifier: MIT
// Small-M GEMM with a B in narrow formats, on the CPU emulator, against double precision of the decoded operands.
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/launch/launch.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace tilewright {
namespace {

struct shape {
  index_t m, n, k, batch = 1, resident = 3;
  index_t gap = 0;  ///< words between columns, scales between columns
  bool has_workspace = true;
};

/// The number that a code means, from its element type.
template <class E>
double number_of(unsigned code, unsigned) {
  E value{};
  value.bits = static_cast<unsigned char>(code);
  return double(float(value));
}
double less_zero(unsigned code, unsigned zero) { return double(code) - double(zero); }
double signed_byte(unsigned code, unsigned) { return double(int(code ^ 0x80) - 128); }

template <class Policy>
struct narrow_case {
  using F = typename Policy::b_format;
  using T = typename Policy::element_type;
  using R = typename Policy::result_type;
  using Scale = typename F::scale_type;

  explicit narrow_case(const shape& s, unsigned seed) : p(s), random(seed) {
    constexpr index_t line = 128 / F::bits;  // elements of 16 bytes
    groups = F::group == 0 ? 1 : ceil_div(p.k, tilewright::max(F::group, 1));
    args.m = p.m, args.n = p.n, args.k = p.k, args.batch = p.batch;
    args.lda = detail::round_up(p.k, 8) + 8;
    args.ldb = detail::round_up(p.k, line) + p.gap * line;
    args.ldc = detail::round_up(p.n, 4) + 4;
    args.ld_b_scales = p.gap == 0 ? 0 : groups + p.gap;
    ld_scales = groups + p.gap;
    args.batch_stride_a = long_index_t(args.lda) * p.m;
    args.batch_stride_b = long_index_t(args.ldb) * p.n;
    args.batch_stride_c = long_index_t(args.ldc) * p.m;
    args.batch_stride_b_scales = long_index_t(ld_scales) * p.n;
    a.resize(std::size_t(args.batch_stride_a * p.batch));
    b.resize(std::size_t(args.batch_stride_b * p.batch * F::bits / 8));
    c.assign(std::size_t(args.batch_stride_c * p.batch), R(-77.0f));
    scales.resize(std::size_t(args.batch_stride_b_scales * p.batch));
    zeros.resize(scales.size());
    std::normal_distribution<float> normal;
    for (T& x : a) x = T(normal(random));
    for (unsigned char& x : b) {
      x = static_cast<unsigned char>(random());
      if (std::is_same_v<F, e4m3_groups<>> && (x & 0x7f) == 0x7f) x = 0x7e;  // no NaN
    }
    for (Scale& x : scales) x = Scale(std::ldexp(1 + float(random() % 256) / 256, int(random() % 6) - 4));
    for (unsigned char& x : zeros) x = static_cast<unsigned char>(random() % 17);
    args.a = a.data(), args.b = b.data(), args.c = c.data();
    args.b_scales = scales.data(), args.b_zeros = zeros.data();
  }

  void run() {
    using size = hopper_gemm_workspace;
    std::vector<float> workspace(size::bytes / sizeof(float), std::nanf(""));
    std::fill_n(workspace.begin(), size::num_counters, 0.0f);
    args.workspace = p.has_workspace ? workspace.data() : nullptr;
    const emulator::launch_report report = launch<small_m_gemm<Policy>>(
        args, {.workers = 1, .resident_clusters = p.resident, .check_lds = emulator::lds_checks::on});
    // Scales that are no whole aligned chunks of 16 bytes are copied one by one.
    const index_t chunk = 16 / index_t(sizeof(Scale));
    if (F::group == 0 || (ld_scales % chunk == 0 && groups % chunk == 0)) {
      EXPECT_EQ(report.totals.conflicts, 0);
    }
    EXPECT_EQ(std::count(workspace.begin(), workspace.begin() + size::num_counters, 0.0f), size::num_counters);
  }
  std::size_t scale_of(index_t z, index_t n, index_t k) const {
    return std::size_t(z * args.batch_stride_b_scales + long_index_t(n) * ld_scales +
                       (F::group == 0 ? 0 : k / tilewright::max(F::group, 1)));
  }
  /// Compares with sums in double; NaN where they are.
  template <class Number>
  void expect_result(Number number, double precision) {
    for (index_t z = 0; z < p.batch; ++z) {
      for (index_t m = 0; m < p.m; ++m) {
        for (index_t n = 0; n < p.n; ++n) {
          double sum = 0, size = 1e-30;
          for (index_t k = 0; k < p.k; ++k) {
            const std::size_t bit = std::size_t(z * args.batch_stride_b + long_index_t(n) * args.ldb + k) * F::bits;
            const unsigned code = unsigned(b[bit / 8]) >> bit % 8 & ((1u << F::bits) - 1);
            const std::size_t at = scale_of(z, n, k);
            const double term = number(code, zeros[at]) * double(float(scales[at])) *
                                double(float(a[std::size_t(z * args.batch_stride_a + long_index_t(m) * args.lda + k)]));
            sum += term, size += std::abs(term);
          }
          const double is = double(float(c[std::size_t(z * args.batch_stride_c + long_index_t(m) * args.ldc + n)]));
          if (std::isfinite(sum))
            ASSERT_LE(std::abs(is - sum), precision * size)
                << "row " << m << ", column " << n << ": " << is << ", not " << sum;
          else
            ASSERT_FALSE(std::isfinite(is)) << "row " << m << ", column " << n;
        }
        for (index_t n = p.n; n < args.ldc; ++n)
          ASSERT_EQ(float(c[std::size_t(z * args.batch_stride_c + long_index_t(m) * args.ldc + n)]), -77.0f);
      }
    }
  }

  shape p;
  std::mt19937 random;
  index_t groups, ld_scales;
  narrow_args args;
  std::vector<T> a;
  std::vector<unsigned char> b, zeros;
  std::vector<R> c;
  std::vector<Scale> scales;
};

template <class Policy, class Number>
void expect_product(const shape& s, Number number, double precision = 2e-6) {
  SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
  narrow_case<Policy> test(s, unsigned(s.m * 1000 + s.n + s.k));
  ASSERT_EQ(small_m_gemm<Policy>::check(test.args), nullptr);
  test.run();
  test.expect_result(number, precision);
}

TEST(NarrowPolicy, Int4Groups) {
  expect_product<narrow_policy<bfloat16_t, int4_groups<128>, 8, 1, float>>(
      {.m = 5, .n = 135, .k = 900, .resident = 4, .gap = 1},
      [](unsigned code, unsigned) { return less_zero(code, 8); });
  expect_product<narrow_policy<half_t, int4_groups<64, half_t>, 16, 4, float>>(
      {.m = 16, .n = 68, .k = 1311, .resident = 5}, [](unsigned code, unsigned) { return less_zero(code, 8); });
}
/// Scales in whole chunks of 16 bytes, of several steps or one each. Splits begin within a chunk.
TEST(NarrowPolicy, ChunksOfScales) {
  expect_product<narrow_policy<bfloat16_t, int4_groups<128>, 8, 1, float>>(
      {.m = 2, .n = 20, .k = 2048, .resident = 3}, [](unsigned code, unsigned) { return less_zero(code, 8); });
  expect_product<narrow_policy<bfloat16_t, int4_zero_groups<32>, 8, 1, float>>(
      {.m = 3, .n = 9, .k = 1280, .resident = 2}, less_zero);
  expect_product<narrow_policy<bfloat16_t, nvfp4_format, 8, 4, float>>({.m = 1, .n = 12, .k = 1024},
                                                                       number_of<fp4_e2m1_t>);
}
TEST(NarrowPolicy, Int4WithZeroPoints) {
  expect_product<narrow_policy<bfloat16_t, int4_zero_groups<32>, 16, 1, float>>(
      {.m = 9, .n = 130, .k = 300, .batch = 2, .gap = 2}, less_zero);
  expect_product<narrow_policy<half_t, int4_zero_groups<256, float>, 8, 4, float>>({.m = 1, .n = 4, .k = 700},
                                                                                   less_zero);
}
TEST(NarrowPolicy, Mxfp4AndNvfp4) {
  expect_product<narrow_policy<bfloat16_t, mxfp4_format, 16, 1, float>>({.m = 12, .n = 129, .k = 416},
                                                                        number_of<fp4_e2m1_t>);
  expect_product<narrow_policy<half_t, mxfp4_format, 8, 1, float>>({.m = 8, .n = 31, .k = 97, .has_workspace = false},
                                                                   number_of<fp4_e2m1_t>);
  expect_product<narrow_policy<bfloat16_t, nvfp4_format, 8, 1, float>>({.m = 3, .n = 140, .k = 600, .gap = 3},
                                                                       number_of<fp4_e2m1_t>);
  expect_product<narrow_policy<half_t, nvfp4_format, 16, 4, float>>({.m = 16, .n = 36, .k = 48}, number_of<fp4_e2m1_t>);
}
TEST(NarrowPolicy, EightBits) {
  expect_product<narrow_policy<bfloat16_t, int8_groups<>, 16, 1, float>>({.m = 11, .n = 133, .k = 515, .resident = 6},
                                                                         signed_byte);
  expect_product<narrow_policy<half_t, e4m3_groups<>, 8, 4, float>>({.m = 2, .n = 64, .k = 260, .batch = 2},
                                                                    number_of<fp8_ocp_t>);
  expect_product<narrow_policy<bfloat16_t, int8_groups<128, half_t>, 8, 1, float>>({.m = 7, .n = 9, .k = 300},
                                                                                   signed_byte);
}
TEST(NarrowPolicy, ResultsRoundOnce) {
  expect_product<narrow_policy<bfloat16_t, int4_groups<32>, 8>>(
      {.m = 6, .n = 132, .k = 256}, [](unsigned code, unsigned) { return less_zero(code, 8); }, 0x1p-9 + 2e-6);
}

/// Only the column with the scale is affected, and A's zeros after k do not multiply it.
template <class Policy, class Number>
void expect_column_of_scale(typename Policy::b_format::scale_type scale, Number number) {
  narrow_case<Policy> test({.m = 3, .n = 70, .k = 130}, 7);
  test.scales[test.scale_of(0, 33, 129)] = scale;
  test.run();
  test.expect_result(number, 2e-6);
  EXPECT_FALSE(std::isfinite(float(test.c[33])));
}
TEST(NarrowPolicy, ScalesThatAreNotFinite) {
  const auto int4 = [](unsigned code, unsigned) { return less_zero(code, 8); };
  expect_column_of_scale<narrow_policy<bfloat16_t, mxfp4_format, 8, 1, float>>(e8m0_t::from_bits(0xff),
                                                                               number_of<fp4_e2m1_t>);
  expect_column_of_scale<narrow_policy<bfloat16_t, nvfp4_format, 8, 1, float>>(fp8_ocp_t(std::nanf("")),
                                                                               number_of<fp4_e2m1_t>);
  expect_column_of_scale<narrow_policy<half_t, int4_groups<32, half_t>, 16, 1, float>>(half_t(std::nanf("")), int4);
  expect_column_of_scale<narrow_policy<half_t, int4_groups<32, half_t>, 16, 1, float>>(half_t(1e6f), int4);
}
TEST(NarrowPolicy, ScalesBeyondTheRangeOfA) {
  using policy = narrow_policy<half_t, mxfp4_format, 8, 1, float>;
  narrow_case<policy> test({.m = 2, .n = 20, .k = 64}, 8);
  for (e8m0_t& scale : test.scales) scale = e8m0_t(0x1p40f);
  test.run();
  test.expect_result(number_of<fp4_e2m1_t>, 2e-6);
}

TEST(NarrowPolicy, RefusesWhatItCannotDo) {
  using policy = narrow_policy<bfloat16_t, int4_zero_groups<32>, 16, 4>;
  using kernel = small_m_gemm<policy>;
  narrow_case<policy> test({.m = 17, .n = 8, .k = 64}, 9);  // memory for all rows that are asked for
  narrow_args good = test.args;
  good.m = 4;
  EXPECT_EQ(kernel::check(good), nullptr);
  const auto expect_refused = [&](const char* why, auto change) {
    narrow_args g = good;
    change(g);
    EXPECT_STREQ(kernel::check(g), why);
  };
  expect_refused("small_m_gemm computes up to 16 rows of C; use another kernel", [](narrow_args& g) { g.m = 17; });
  expect_refused("A's rows must start at multiples of 16 bytes: a, lda and batch_stride_a",
                 [](narrow_args& g) { g.lda += 4; });
  const char* const columns = "columns of a narrow B must start at multiples of 16 bytes: b, ldb and batch_stride_b";
  expect_refused(columns, [](narrow_args& g) { g.ldb += 8; });
  expect_refused(columns, [](narrow_args& g) { g.b = static_cast<const char*>(g.b) + 8; });
  expect_refused("a narrow B needs b_scales", [](narrow_args& g) { g.b_scales = nullptr; });
  expect_refused("this narrow format needs b_zeros", [](narrow_args& g) { g.b_zeros = nullptr; });
  expect_refused("ld_b_scales is smaller than the scales of a column", [](narrow_args& g) { g.ld_b_scales = 1; });
}

}  // namespace
}  // namespace tilewright
