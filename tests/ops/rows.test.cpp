// SPDX-License-Identifier: MIT
// Softmax, norms, quantisation and cross entropy, each against double precision.
#include <tilewright/ops.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include "on_gpu.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::on_gpu;
using tilewright::half_t;

constexpr int rows = 6, cols = 77;
double at(const on_gpu<half_t>& t, int row, int col) { return double(float(t.data[std::size_t(row * cols + col)])); }

TEST(Rows, SoftmaxAddsUpToOne) {
  const on_gpu<half_t> x({2, 3, cols}, 1);
  on_gpu<half_t> y({2, 3, cols});
  tw::softmax(y, x);
  y.download();
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += std::exp(at(x, r, c));
    for (int c = 0; c < cols; ++c) ASSERT_NEAR(at(y, r, c), std::exp(at(x, r, c)) / sum, 1e-4) << r << ", " << c;
  }
}

TEST(Rows, LayerNormAndItsGradient) {
  const on_gpu<half_t> x({rows, cols}, 1), weight({cols}, 2), bias({cols}, 3), dy({rows, cols}, 4);
  on_gpu<half_t> y({rows, cols}), dx({rows, cols}), d_weight({cols}), d_bias({cols});
  const on_gpu<float> mean({rows}), rstd({rows});
  tw::layer_norm(y, x, weight, {.bias = bias, .mean = mean, .rstd = rstd});
  tw::layer_norm_gradient(dx, d_weight, dy, x, weight, mean, rstd, {.d_bias = d_bias});
  y.download(), dx.download(), d_weight.download(), d_bias.download();
  std::vector<double> dw(cols), db(cols);
  for (int r = 0; r < rows; ++r) {
    double m = 0, v = 0, g = 0, gx = 0;
    for (int c = 0; c < cols; ++c) m += at(x, r, c) / cols;
    for (int c = 0; c < cols; ++c) v += (at(x, r, c) - m) * (at(x, r, c) - m) / cols;
    const double s = 1 / std::sqrt(v + 1e-5);
    const auto normed = [&](int c) { return (at(x, r, c) - m) * s; };
    const auto w = [&](int c) { return double(float(weight.data[std::size_t(c)])); };
    for (int c = 0; c < cols; ++c) {
      g += at(dy, r, c) * w(c) / cols, gx += at(dy, r, c) * w(c) * normed(c) / cols;
      dw[std::size_t(c)] += at(dy, r, c) * normed(c), db[std::size_t(c)] += at(dy, r, c);
      ASSERT_NEAR(at(y, r, c), normed(c) * w(c) + double(float(bias.data[std::size_t(c)])), 5e-3) << r << ", " << c;
    }
    for (int c = 0; c < cols; ++c)
      ASSERT_NEAR(at(dx, r, c), s * (at(dy, r, c) * w(c) - g - normed(c) * gx), 1e-2) << r << ", " << c;
  }
  for (std::size_t c = 0; c < cols; ++c) {
    EXPECT_NEAR(double(float(d_weight.data[c])), dw[c], 1e-2);
    EXPECT_NEAR(double(float(d_bias.data[c])), db[c], 1e-2);
  }
}

TEST(Rows, QuantisedElementsTimesScalesAreWhatTheyWere) {
  const on_gpu<half_t> x({rows, cols}, 1);
  on_gpu<tilewright::int8_t> y({rows, cols});
  on_gpu<float> scales({rows});
  tw::quantise(y, scales, x);
  y.download(), scales.download();
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      ASSERT_NEAR(float(y.data[std::size_t(r * cols + c)]) * scales.data[std::size_t(r)], at(x, r, c), 1 / 127.0);
}

TEST(Rows, CrossEntropyOfTargets) {
  const on_gpu<half_t> x({rows, cols}, 1);
  on_gpu<float> loss({rows});
  on_gpu<int> target({rows});
  for (int r = 0; r < rows; ++r) target.data[std::size_t(r)] = r == 2 ? -1 : 11 * r;
  target.upload();
  tw::cross_entropy(loss, x, target);
  loss.download();
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += std::exp(at(x, r, c));
    EXPECT_NEAR(loss.data[std::size_t(r)], r == 2 ? 0 : std::log(sum) - at(x, r, 11 * r), 1e-3) << r;
  }
}

}  // namespace
