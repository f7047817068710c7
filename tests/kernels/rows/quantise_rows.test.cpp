// SPDX-License-Identifier: MIT
#include "../explored.hpp"
#include "matrix.hpp"

#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/kernels/rows/quantise_rows.hpp>
#include <tilewright/launch/launch.hpp>

namespace rows_test {

namespace {

using enum scale_kind;
using per_row_int8 = quantise_rows<arch::gfx942, half_t, int8_t, row_tile{256, 64, 2, 8, 1, false, 1}>;
using in_a_cluster =
    quantise_rows<arch::sm90, half_t, int8_t,
                  row_tile{
                      .threads = 64, .threads_per_row = 64, .vectors = 1, .vector = 8, .blocks = 2, .lds_segments = 1}>;
using swiglu_128 = quantise_rows<arch::sm90, bfloat16_t, fp8_ocp_t, row_tile{256, 32, 2, 8}, per_128, swiglu_function>;
using norm_128 =
    row_norm<arch::gfx1201, float, row_tile{256, 256, 1, 4, 1, true}, norm_kind::layer_norm, fp8_ocp_t, per_128>;

/// y times scale is what was wanted, up to `step` of the largest value of its group; each group has such a value.
template <class Result>
void expect_quantised(const matrix<Result>& y, const std::vector<float>& scale, long_index_t row_stride,
                      long_index_t group_stride, index_t group, double most, double step, auto wanted) {
  for (index_t r = 0; r < y.rows; ++r) {
    for (index_t first = 0; first < y.cols; first += group) {
      const double factor = double(scale[std::size_t(r * row_stride + first / group * group_stride)]);
      double worst = 0, largest = 0;
      for (index_t c = first; c < std::min(first + group, y.cols); ++c) {
        worst = max_error(worst, std::abs(y(r, c) * factor - wanted(r, c)));
        largest = std::max(largest, std::abs(wanted(r, c)));
      }
      if (largest > 0) largest = std::max(largest, most * 0x1p-125);
      EXPECT_NEAR(factor, largest / most, largest / most * 1e-4);
      EXPECT_LE(worst, largest * step);
    }
  }
}

/// One scale for each row, the fourth of which is zero.
template <class Kernel>
void expect_rows(matrix<half_t> x) {
  matrix<int8_t> y(x.rows, x.cols, 8, int8_t(99));
  for (index_t c = 0; c < x.cols; ++c) x.at(3, c) = half_t(0.0f);
  std::vector<float> scale(std::size_t(2 * x.rows), -7.0f);
  launch<Kernel>({.x = x.data(),
                  .y = y.data(),
                  .scale = scale.data(),
                  .rows = x.rows,
                  .cols = x.cols,
                  .x_stride = x.stride,
                  .y_stride = y.stride,
                  .scale_row_stride = 2},
                 {.check_lds = emulator::lds_checks::on});
  EXPECT_TRUE(y.has_clean_gaps(int8_t(99)));
  EXPECT_EQ(scale[1], -7.0f);
  expect_quantised(y, scale, 2, 0, x.cols, 127, 0.51 / 127, [&](index_t r, index_t c) { return x(r, c); });
}

}  // namespace

TEST(QuantiseRows, PerRow) {
  std::mt19937 random(41);
  for (int i = 0; i < 3; ++i) expect_rows<per_row_int8>({7, random_length(random, 5000, 8), 8, random, 3});
}

TEST(QuantiseRows, PassesInExploredSchedules) {
  testing_schedules::expect_in_explored_schedules([] {
    std::mt19937 random(7);
    expect_rows<in_a_cluster>({4, 1504, 8, random, 3});
  });
}

TEST(QuantiseRows, SwigluPer128InEitherOrderOfScales) {
  std::mt19937 random(42);
  for (int i = 0; i < 4; ++i) {
    matrix<bfloat16_t> x(19, random_length(random, 1500, 8), 0, random, 3), x2(19, x.cols, 0, random);
    for (index_t c = 0; c < x.cols; ++c) x2.at(3, c) = bfloat16_t(c % 3 == 0 ? 0.0f : float(x2(3, c)) * 0x1p-126f);
    matrix<fp8_ocp_t> y(19, x.cols, 8, fp8_ocp_t(-7.0f));
    const index_t groups = ceil_div(x.cols, 128);
    std::vector<float> scale(std::size_t(19 * groups), -7.0f);
    const long_index_t row_stride = i % 2 ? 1 : groups, group_stride = i % 2 ? 19 : 1;
    launch<swiglu_128>({x.values.data(), x2.values.data(), y.data(), scale.data(), 19, x.cols, x.stride, x2.stride,
                        y.stride, row_stride, group_stride});
    EXPECT_TRUE(y.has_clean_gaps(fp8_ocp_t(-7.0f)));
    expect_quantised(y, scale, row_stride, group_stride, 128, 448, 16.1 / 448,
                     [&](index_t r, index_t c) { return x(r, c) / (1 + std::exp(-x(r, c))) * x2(r, c); });
  }
}

TEST(QuantiseRows, NormPer128) {
  std::mt19937 random(43);
  for (const index_t cols : {4, 133, 2500}) {
    const matrix<float> x(5, cols, 0, random), weight(1, cols, 0, random);
    matrix<fp8_ocp_t> y(5, cols, 0, fp8_ocp_t(-7.0f));
    const index_t groups = ceil_div(cols, 128);
    std::vector<float> scale(std::size_t(5 * groups), -7.0f), mean(5), rstd(5);
    launch<norm_128>({.x = x.values.data(),
                      .weight = weight.values.data(),
                      .y = y.data(),
                      .scale = scale.data(),
                      .scale_row_stride = groups,
                      .scale_group_stride = 1,
                      .mean = mean.data(),
                      .rstd = rstd.data(),
                      .rows = 5,
                      .cols = cols,
                      .x_stride = cols,
                      .y_stride = cols});
    expect_quantised(y, scale, groups, 1, 128, 448, 16.1 / 448, [&](index_t r, index_t c) {
      return (x(r, c) - double(mean[std::size_t(r)])) * double(rstd[std::size_t(r)]) * weight(0, c);
    });
  }
}

TEST(QuantiseRows, RefusesWhatItCannotDo) {
  alignas(16) static bfloat16_t memory[4096];
  alignas(16) static fp8_ocp_t result[2048];
  static float scale[16];
  const quantise_args<bfloat16_t, fp8_ocp_t> good{memory, memory + 2048, result, scale, 2, 1000,
                                                  1000,   1000,          1000,   8,     1};
  EXPECT_EQ(swiglu_128::check(good), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    auto args = good;
    change(args);
    expect_refusal<swiglu_128>(args, words);
  };
  refuse([](auto& a) { a.rows = 0; }, "must be positive");
  refuse([](auto& a) { a.scale = nullptr; }, "needs scale");
  refuse([](auto& a) { a.scale_row_stride = 1; }, "one element");
  refuse([](auto& a) { a.scale_group_stride = 0; }, "must be positive");
  refuse([](auto& a) { a.scale = reinterpret_cast<float*>(result); }, "overlaps a matrix's");
  refuse([](auto& a) { a.y = reinterpret_cast<fp8_ocp_t*>(memory); }, "overlaps an input");
  refuse([](auto& a) { a.y = reinterpret_cast<fp8_ocp_t*>(memory + 2048); }, "overlaps an input");
  refuse([](auto& a) { a.scale = reinterpret_cast<float*>(memory + 2048); }, "overlaps a matrix's");
  refuse([](auto& a) { a.scale = reinterpret_cast<float*>(result + 2001); }, "not aligned to its floats");
  refuse([](auto& a) { a.x2 = nullptr; }, "null");
  refuse([](auto& a) { ++a.y; }, "aligned");
  refuse([](auto& a) { a.x2_stride = 992; }, "rows would overlap");
}

}  // namespace rows_test
