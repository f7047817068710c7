// SPDX-License-Identifier: MIT
#include "../explored.hpp"
#include "matrix.hpp"

#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/launch/launch.hpp>

namespace rows_test {

namespace {

template <class T, class Result, class Kernel>
void expect_norm(matrix<T> x, index_t gap, bool has_residual, double error, std::mt19937& random,
                 index_t checked_rows = 1 << 30) {
  SCOPED_TRACE(std::to_string(x.rows) + " x " + std::to_string(x.cols));
  const bool is_layer_norm = Kernel::is_layer_norm;
  matrix<T> residual(x.rows, x.cols, gap, random), before = residual, weight(1, x.cols, 0, random),
                                                   bias(1, x.cols, 0, random);
  matrix<Result> y(x.rows, x.cols, gap, Result(-7.0f));
  std::vector<float> scale(std::size_t(x.rows), -1.0f), means = scale, rstd = scale;
  norm_args<T, Result> args{.x = x.data(), .weight = weight.data(), .y = y.data(), .rows = x.rows, .cols = x.cols};
  args.rstd = rstd.data();
  args.x_stride = x.stride;
  args.residual_stride = args.sum_stride = residual.stride;
  args.y_stride = y.stride;
  if (is_layer_norm) args.bias = bias.data(), args.mean = means.data();
  if (has_residual) args.residual = args.sum = residual.data();  // in place
  if ((sizeof(Result) == 1)) args.scale = scale.data();
  launch<Kernel>(args, {.check_lds = emulator::lds_checks::on});
  EXPECT_TRUE(y.has_clean_gaps(Result(-7.0f)));

  double worst = 0, worst_sum = 0, worst_saved = 0;
  for (index_t r = 0; r < std::min(x.rows, checked_rows); ++r) {
    std::vector<double> s(std::size_t(x.cols));
    double mean = 0, variance = 0, largest = 0;
    for (index_t c = 0; c < x.cols; ++c) {
      const double exact = x(r, c) + (has_residual ? before(r, c) : 0);
      s[std::size_t(c)] = has_residual ? residual(r, c) : exact;
      worst_sum = max_error(worst_sum, std::abs(s[std::size_t(c)] - exact) / std::max(1.0, std::abs(exact)));
      mean += is_layer_norm ? s[std::size_t(c)] / x.cols : 0.0;
    }
    for (const double e : s) variance += (e - mean) * (e - mean) / x.cols;
    const double factor = 1 / std::sqrt(variance + 1e-5);
    worst_saved = max_error(worst_saved, std::abs(rstd[std::size_t(r)] / factor - 1));
    if (is_layer_norm) worst_saved = max_error(worst_saved, std::abs(means[std::size_t(r)] - mean) * factor);
    for (index_t c = 0; c < x.cols; ++c) {
      double& e = s[std::size_t(c)];
      e = (e - mean) * factor * weight(0, c) + (is_layer_norm ? bias(0, c) : 0.0);
      largest = std::max(largest, std::abs(e));
    }
    for (index_t c = 0; c < x.cols; ++c) {
      const double found = y(r, c) * ((sizeof(Result) == 1) ? double(scale[std::size_t(r)]) : 1.0);
      const double off = std::abs(found - s[std::size_t(c)]) / ((sizeof(Result) == 1) ? std::max(largest, 1e-30) : 1.0);
      worst = max_error(worst, off);
    }
  }
  EXPECT_LT(worst, error);
  EXPECT_LT(worst_saved, 1e-3);
  EXPECT_LT(worst_sum, sizeof(T) == 4 ? 1e-7 : 0x1p-8);
}

using rms = row_norm<arch::sm90, half_t, row_tile{64, 64, 2, 8, 1, false, 1}>;
using layer = row_norm<arch::gfx942, float, row_tile{256, 128, 2, 4, 1, true, 2}, norm_kind::layer_norm>;
using rms_int8 = row_norm<arch::sm90, bfloat16_t, row_tile{64, 64, 1, 8, 1, true}, norm_kind::rms_norm, int8_t>;
using rms_in_lds = row_norm<arch::gfx942, half_t, row_tile{256, 128, 1, 8, 1, true, 2}, norm_kind::rms_norm, int8_t>;
using layer_without_room =
    row_norm<arch::gfx942, bfloat16_t, choose_unaligned_tile<arch::gfx942, bfloat16_t>(1337), norm_kind::layer_norm>;
using layer_fp8 = row_norm<arch::sm90, half_t, row_tile{64, 64, 3, 1, 4}, norm_kind::layer_norm, fp8_ocp_t>;

}  // namespace

TEST(Norm, RowsOfAnyLength) {
  std::mt19937 random(5);
  for (int i = 0; i < 4; ++i) {
    const index_t gap = i % 2 * 8, rows = 1 + index_t(random() % 30);
    expect_norm<half_t, half_t, rms>({rows, random_length(random, 3000, 8), gap, random}, gap, i > 1, 0.02, random);
    expect_norm<float, float, layer>({5, random_length(random, 9000, 1), gap, random}, gap, i > 1, 2e-5, random);
    expect_norm<bfloat16_t, int8_t, rms_int8>({9, random_length(random, 2000, 1), gap, random}, gap, i > 1, 0.51 / 127,
                                              random);
    expect_norm<half_t, int8_t, rms_in_lds>({3, random_length(random, 5000, 1), gap, random}, gap, i > 1, 0.51 / 127,
                                            random);
    expect_norm<half_t, fp8_ocp_t, layer_fp8>({2, random_length(random, 3000, 1), i, random}, 3, i > 1, 16.1 / 448,
                                              random);
  }
  expect_norm<float, float, layer>({1, 130000, 0, random}, 0, true, 2e-5, random);
}

/// The first 16 of many blocks, each of which takes two rows.
struct first_blocks : rms_int8 {
  static constexpr exec::block_index grid(const args_type&) { return {16, 1, 1}; }
};

TEST(Norm, BlocksThatTakeSeveralRows) {
  std::mt19937 random(8);
  static_assert(layer_without_room::lds_bytes <= arch::gfx942::value.lds_bytes, "weights, bias and no row beside them");
  expect_norm<bfloat16_t, bfloat16_t, layer_without_room>({16, 1337, 0, random}, 0, false, 0x1p-5, random);
  expect_norm<bfloat16_t, int8_t, first_blocks>({2 * 16384, 53, 0, random}, 0, false, 0.51 / 127, random, 32);
}

TEST(Norm, VarianceOfNumbersThatAreAlmostEqual) {
  std::mt19937 random(6);
  for (const index_t cols : {7, 5000}) {  // 7: no vectors, only elements at the ends
    matrix<float> x(3, cols, 0, random);
    for (float& e : x.values) e += 4096.0f;  // a sum of squares would have lost the variance
    expect_norm<float, float, layer>(x, 0, false, 2e-3, random);
  }
}

TEST(Norm, ZerosAndTinyNumbersAreQuantised) {
  std::mt19937 random(9);
  matrix<bfloat16_t> x(2, 64, 0, bfloat16_t(0.0f)), weight(1, 64, 0, bfloat16_t(0x1p-126f));
  x.at(0, 1) = bfloat16_t(8.0f), x.at(0, 2) = bfloat16_t(2.0f);  // row 1 has zeros alone
  expect_norm<bfloat16_t, int8_t, rms_int8>(x, 0, false, 0.51 / 127, random);
  matrix<int8_t> y(2, 64, 0, int8_t(-7));
  float scale[2] = {-7, -7};
  launch<rms_int8>({.x = x.data(),
                    .weight = weight.data(),
                    .y = y.data(),
                    .scale = scale,
                    .rows = 2,
                    .cols = 64,
                    .x_stride = 64,
                    .y_stride = 64});
  for (index_t c = 0; c < 64; ++c) {
    EXPECT_NEAR(y(0, c) * scale[0], x(0, c) * 0x1p-126, scale[0]);
    EXPECT_EQ(y(1, c), 0);
  }
  EXPECT_EQ(scale[1], 0);
}

TEST(Norm, PassesInExploredSchedules) {
  tilewright::testing_schedules::expect_in_explored_schedules([] {
    std::mt19937 random(7);
    expect_norm<half_t, half_t, rms>({3, 1000, 0, random}, 0, true, 0.02, random);
    expect_norm<half_t, fp8_ocp_t, layer_fp8>({2, 700, 0, random}, 0, false, 16.1 / 448, random);
  });
}

TEST(Norm, RefusesWhatItCannotDo) {
  alignas(16) static half_t memory[8192];
  const norm_args<half_t> good{.x = memory,
                               .residual = memory + 2048,
                               .sum = memory + 2048,
                               .weight = memory + 8,
                               .y = memory + 4096,
                               .rows = 2,
                               .cols = 1000,
                               .x_stride = 1000,
                               .residual_stride = 1000,
                               .sum_stride = 1000,
                               .y_stride = 1000};
  EXPECT_EQ(rms::check(good), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    auto args = good;
    change(args);
    expect_refusal<rms>(args, words);
  };
  refuse([](auto& a) { a.rows = 0; }, "must be positive");
  refuse([](auto& a) { a.sum = nullptr; }, "residual and sum");
  refuse([](auto& a) { a.bias = a.weight; }, "no bias");
  refuse([](auto& a) { a.weight = nullptr; }, "null");
  refuse([](auto& a) { ++a.weight; }, "aligned");
  refuse([](auto& a) { a.residual_stride = 992; }, "rows would overlap");
  refuse([](auto& a) { a.y = memory + 16; }, "overlaps an input");
  refuse([](auto& a) { a.y = a.sum; }, "two results");
  refuse([](auto& a) { a.weight = a.y + 8; }, "overlaps weight or bias");
  refuse([](auto& a) { a.rstd = reinterpret_cast<float*>(memory); }, "overlaps another result's or an input's");
  refuse([](auto& a) { a.rstd = reinterpret_cast<float*>(memory + 8001); }, "not aligned");
  const auto* x = reinterpret_cast<const bfloat16_t*>(memory);
  auto* y = reinterpret_cast<int8_t*>(memory + 4096);
  expect_refusal<rms_int8>({.x = x, .weight = x, .y = y, .rows = 1, .cols = 512, .x_stride = 512, .y_stride = 512},
                           "needs scale");
  norm_args<bfloat16_t, int8_t> in_weight{
      .x = x, .weight = x + 1024, .y = y, .scale = reinterpret_cast<float*>(memory + 1024)};
  in_weight.rows = 1, in_weight.cols = in_weight.x_stride = in_weight.y_stride = 512;
  expect_refusal<rms_int8>(in_weight, "overlaps another result's or an input's");
}

}  // namespace rows_test
