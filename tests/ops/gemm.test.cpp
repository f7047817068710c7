// SPDX-License-Identifier: MIT
#include <tilewright/ops/gemm.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <tilewright.h>

#include "on_gpu.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::on_gpu, ops_test::message_of;
using tilewright::half_t;

/// Compares C (m, n) with A (m, k) B (k, n), whose elements the views say where to find.
template <class T, class R, class Then>
void expect_product(on_gpu<R>& c, const tw::tensor& cv, const on_gpu<T>& a, const tw::tensor& av, const on_gpu<T>& b,
                    const tw::tensor& bv, Then then) {
  c.download();
  const int d = cv.rank - 2;
  const auto at = [](const tw::tensor& t, auto batch, auto i, auto j) {
    const int r = t.rank - 2;
    return std::size_t((r > 0 && t.lengths[0] > 1 ? batch * t.strides[0] : 0) + i * t.strides[r] +
                       j * t.strides[r + 1]);
  };
  for (tilewright::long_index_t z = 0; z < (d > 0 ? cv.lengths[0] : 1); ++z)
    for (tilewright::long_index_t i = 0; i < cv.lengths[d]; ++i)
      for (tilewright::long_index_t j = 0; j < cv.lengths[d + 1]; ++j) {
        double sum = 0;
        for (tilewright::long_index_t x = 0; x < av.lengths[av.rank - 1]; ++x)
          sum += double(float(a.data[at(av, z, i, x)])) * double(float(b.data[at(bv, z, x, j)]));
        ASSERT_NEAR(double(float(c.data[at(cv, z, i, j)])), then(sum, i, j), 0.02 + 0.004 * std::abs(sum))
            << z << ", " << i << ", " << j;
      }
}
constexpr auto as_is = [](double sum, auto, auto) { return sum; };

TEST(Gemm, ComputesEveryOrderOfItsTensors) {
  const on_gpu<half_t> a({40, 24}, 1), a_t({24, 40}, 2), b({24, 56}, 3), b_t({56, 24}, 4);
  on_gpu<half_t> c({40, 56}), c_t({56, 40});
  for (const auto* left : {&a, &a_t})
    for (const auto* right : {&b, &b_t})
      for (auto* result : {&c, &c_t}) {
        const tw::tensor av = left == &a ? a.view : tw::transposed(a_t.view),
                         bv = right == &b ? b.view : tw::transposed(b_t.view),
                         cv = result == &c ? c.view : tw::transposed(c_t.view);
        tw::gemm(cv, av, bv);
        expect_product(*result, cv, *left, av, *right, bv, as_is);
      }
}

TEST(Gemm, AppliesWhatTheOptionsGive) {
  const on_gpu<half_t> a({33, 19}, 1), b({19, 21}, 2), bias({21}, 3), residual({33, 21}, 4);
  const on_gpu<float> row({33}, 5), column({21}, 6);
  on_gpu<half_t> c({33, 21}, 7);
  const std::vector<half_t> before = c.data;
  tw::gemm(c, a, b,
           {.alpha = 0.5f,
            .row_scale = row,
            .column_scale = column,
            .bias = bias,
            .activate = tilewright::activation::relu,
            .residual = residual,
            .beta = 2});
  expect_product(c, c.view, a, a.view, b, b.view, [&](double sum, auto i, auto j) {
    const double x =
        0.5 * sum * row.data[std::size_t(i)] * column.data[std::size_t(j)] + double(float(bias.data[std::size_t(j)]));
    const auto at = std::size_t(i * 21 + j);
    return std::max(x, 0.0) + double(float(residual.data[at])) + 2 * double(float(before[at]));
  });
}

TEST(Gemm, SharesOperandsInABatch) {
  const on_gpu<half_t> a({3, 16, 32}, 1), b({32, 24}, 2), few({16, 32}, 3), many({3, 32, 24}, 4);
  on_gpu<half_t> c({3, 16, 24});
  tw::gemm(c, a, b);
  expect_product(c, c.view, a, a.view, b, b.view, as_is);
  tw::gemm(c, few, many);
  expect_product(c, c.view, few, few.view, many, many.view, as_is);
}

TEST(Gemm, IsCalledFromC) {
  const on_gpu<half_t> a({16, 32}, 1), b({32, 24}, 2);
  on_gpu<half_t> c({16, 24});
  const auto of = [](const tw::tensor& t) {
    return tilewright_tensor{t.data, int(t.type), t.rank, {t.lengths[0], t.lengths[1]}, {t.strides[0], t.strides[1]}};
  };
  const tilewright_tensor cc = of(c), ca = of(a), cb = of(b);
  tilewright_gemm_options options = TILEWRIGHT_GEMM_OPTIONS;
  options.alpha = 2;
  ASSERT_EQ(tilewright_gemm(&cc, &ca, &cb, &options), TILEWRIGHT_OK) << tilewright_last_error();
  expect_product(c, c.view, a, a.view, b, b.view, [](double sum, auto, auto) { return 2 * sum; });
  EXPECT_EQ(tilewright_gemm(&cc, &cb, &ca, nullptr), TILEWRIGHT_WRONG_CALL);
  EXPECT_STREQ(tilewright_last_error(), "gemm: A is 32 x 24 and B 16 x 32; A must have as many columns as B has rows");
}

}  // namespace
