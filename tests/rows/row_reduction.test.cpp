// SPDX-License-Identifier: MIT
#include "matrix.hpp"

#include <tilewright/launch/launch.hpp>
#include <tilewright/rows/row_reduction.hpp>

namespace rows_test {

namespace {

using enum row_reduction_kind;
using sums = row_reduction<arch::sm90, bfloat16_t, choose_row_tile(2000, 8), sum>;
using maxima = row_reduction<arch::gfx942, float, row_tile{256, 128, 2, 4}, row_reduction_kind::maximum>;
using moments = row_reduction<arch::gfx1201, float, row_tile{256, 32, 3, 1}, mean_variance>;

template <class Kernel, class T>
void expect_reduced(matrix<T> x) {
  SCOPED_TRACE(std::to_string(x.rows) + " x " + std::to_string(x.cols));
  const std::size_t n = std::size_t(x.rows);
  std::vector<float> y(n, -7.0f), variance(n, -7.0f);
  std::vector<index_t> index(n, -7);
  row_reduction_args<T> args{.x = x.data(), .y = y.data(), .rows = x.rows, .cols = x.cols, .x_stride = x.stride};
  if (Kernel::is_max) args.index = index.data();
  if (!Kernel::is_max && !Kernel::is_sum) args.variance = variance.data();
  launch<Kernel>(args, {.check_lds = emulator::lds_checks::on});
  for (index_t r = 0; r < x.rows; ++r) {
    const std::size_t i = std::size_t(r);
    double total = 0, absolute = 0, squares = 0;
    index_t first = 0;
    for (index_t c = 0; c < x.cols; ++c) {
      total += x(r, c);
      absolute += std::abs(x(r, c));
      if (x(r, c) > x(r, first)) first = c;
    }
    const double mean = total / x.cols;
    for (index_t c = 0; c < x.cols; ++c) squares += (x(r, c) - mean) * (x(r, c) - mean) / x.cols;
    if (Kernel::is_sum) {
      EXPECT_NEAR(y[i], total, absolute * 1e-6);
    } else if (Kernel::is_max) {
      EXPECT_EQ(y[i], x(r, first));
      EXPECT_EQ(index[i], first);
    } else {
      EXPECT_NEAR(y[i], mean, absolute / x.cols * 1e-6);
      EXPECT_NEAR(variance[i], squares, squares * 1e-3 + 1e-9);
    }
  }
}

}  // namespace

TEST(RowReduction, RowsOfAnyLength) {
  std::mt19937 random(11);
  for (int i = 0; i < 4; ++i) {
    const index_t rows = 1 + index_t(random() % 20), gap = i % 2 * 8;
    expect_reduced<sums>(matrix<bfloat16_t>(rows, random_length(random, 6000, 8), gap, random));
    matrix<float> few_values(rows, random_length(random, 6000, 4), gap, random);
    for (float& e : few_values.values) e = std::floor(e * 2);  // the largest is there many times
    expect_reduced<maxima>(few_values);
    matrix<float> with_large_mean(rows, random_length(random, 2000, 1), i, random);
    for (float& e : with_large_mean.values) e += 1000.0f;
    expect_reduced<moments>(with_large_mean);
  }
  expect_reduced<maxima>(matrix<float>(2, 130000, 0, random));
  expect_reduced<maxima>(matrix<float>(3, 2000, 0, -std::numeric_limits<float>::infinity()));
}

TEST(RowReduction, RefusesWhatItCannotDo) {
  alignas(16) static float memory[4096];
  static index_t index[2];
  const row_reduction_args<float> good{.x = memory, .y = memory + 2048, .rows = 2, .cols = 512, .x_stride = 512};
  EXPECT_EQ(maxima::check(good), nullptr);
  auto args = good;
  args.cols = 0;
  expect_refusal<maxima>(args, "must be positive");
  args = good, args.y = memory + 5;
  expect_refusal<maxima>(args, "overlaps the input");
  args = good, args.y = nullptr;
  expect_refusal<maxima>(args, "null");
  expect_refusal<moments>(good, "variance");
  args = good, args.variance = memory + 2080, args.index = index;
  expect_refusal<moments>(args, "only a maximum");
}

}  // namespace rows_test
