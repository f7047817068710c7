// SPDX-License-Identifier: MIT
#include "../explored.hpp"
#include "matrix.hpp"

#include <tilewright/kernels/rows/cross_entropy.hpp>
#include <tilewright/launch/launch.hpp>

namespace rows_test {

namespace {

using enum cross_entropy_kind;
using both = cross_entropy<arch::sm90, half_t, row_tile{128, 128, 1, 8, 2, false, 1}, loss_and_gradient>;
using loss_alone = cross_entropy<arch::gfx942, float, row_tile{256, 128, 3, 4, 1, true}, loss, long_index_t>;
using gradient_alone = cross_entropy<arch::gfx1201, float, row_tile{256, 256, 1, 4, 1, true}, gradient, long_index_t>;

/// Every third row has a target outside of the vocabulary.
template <class Target>
std::vector<Target> draw_targets(index_t rows, index_t cols, std::mt19937& random) {
  std::vector<Target> targets(std::size_t(rows), Target(-100));
  for (std::size_t r = 0; r < targets.size(); ++r) {
    if (r % 3 != 2) targets[r] = Target(random() % unsigned(cols));
  }
  return targets;
}

struct exact_row {
  double log_sum = 0, loss = 0;
};
template <class T>
exact_row exact(const matrix<T>& x, index_t r, long_index_t target) {
  double largest = -1e300, sum = 0;
  for (index_t c = 0; c < x.cols; ++c) largest = std::max(largest, x(r, c));
  for (index_t c = 0; c < x.cols; ++c) sum += std::exp(x(r, c) - largest);
  const double log_sum = largest + std::log(sum);
  return {log_sum, target < 0 ? 0 : log_sum - x(r, index_t(target))};
}
template <class T>
double worst_gradient(const matrix<T>& found, const matrix<T>& x, index_t r, long_index_t target, double factor) {
  const double log_sum = exact(x, r, target).log_sum;
  double worst = 0;
  for (index_t c = 0; c < x.cols; ++c) {
    const double wanted = target < 0 ? 0 : (std::exp(x(r, c) - log_sum) - (c == target)) * factor;
    worst = max_error(worst, std::abs(found(r, c) - wanted));
  }
  return worst;
}

}  // namespace

void expect_loss_and_gradient_in_place(index_t rows, index_t cols, index_t gap, std::mt19937& random) {
  const matrix<half_t> x(rows, cols, gap, random, 4);
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(x.cols));
  matrix<half_t> gradient = x;
  const auto target = draw_targets<index_t>(rows, x.cols, random);
  std::vector<float> loss(std::size_t(rows), -7.0f), log_sum = loss;
  launch<both>({.x = gradient.data(),
                .target = target.data(),
                .loss = loss.data(),
                .log_sum = log_sum.data(),
                .gradient = gradient.data(),
                .scale = 0.5f,
                .rows = rows,
                .cols = x.cols,
                .x_stride = x.stride,
                .gradient_stride = x.stride},
               {.check_lds = emulator::lds_checks::on});
  for (index_t r = 0; r < rows; ++r) {
    const exact_row wanted = exact(x, r, target[std::size_t(r)]);
    EXPECT_NEAR(loss[std::size_t(r)], wanted.loss, 1e-5 * std::max(1.0, wanted.loss));
    EXPECT_NEAR(log_sum[std::size_t(r)], wanted.log_sum, 1e-5 * std::max(1.0, wanted.log_sum));
    EXPECT_LT(worst_gradient(gradient, x, r, target[std::size_t(r)], 0.5), 0x1p-11);
  }
}

TEST(CrossEntropy, LossAndGradientInPlace) {
  std::mt19937 random(21);
  for (const index_t most : {300, 2000, 9000}) {
    const index_t rows = 1 + index_t(random() % 7);
    expect_loss_and_gradient_in_place(rows, random_length(random, most, 8), most == 2000 ? 8 : 0, random);
  }
}

TEST(CrossEntropy, GradientFromStoredSums) {
  std::mt19937 random(22);
  for (const index_t cols : {1, 37, 1033, 130001}) {
    const index_t rows = cols > 2000 ? 1 : 11;
    matrix<float> x(rows, cols, 3, random, 4), gradient(rows, cols, 1, -7.0f);
    const auto target = draw_targets<long_index_t>(rows, cols, random);
    std::vector<float> loss_of_rows(std::size_t(rows), -7.0f), log_sum = loss_of_rows, factor;
    for (index_t r = 0; r < rows; ++r) factor.push_back(float(r) - 3);
    cross_entropy_args<float, long_index_t> args{.x = x.data(),
                                                 .target = target.data(),
                                                 .loss = loss_of_rows.data(),
                                                 .log_sum = log_sum.data(),
                                                 .rows = rows,
                                                 .cols = cols,
                                                 .x_stride = x.stride};
    launch<loss_alone>(args);
    args.gradient = gradient.data();
    args.gradient_stride = gradient.stride;
    args.factor = factor.data();
    launch<gradient_alone>(args);
    EXPECT_TRUE(gradient.has_clean_gaps(-7.0f));
    for (index_t r = 0; r < rows; ++r) {
      EXPECT_NEAR(loss_of_rows[std::size_t(r)], exact(x, r, target[std::size_t(r)]).loss, 1e-4);
      EXPECT_LT(worst_gradient(gradient, x, r, target[std::size_t(r)], double(factor[std::size_t(r)])), 2e-5);
    }
  }
}

TEST(CrossEntropy, PassesInExploredSchedules) {
  tilewright::testing_schedules::expect_in_explored_schedules([] {
    std::mt19937 random(7);
    expect_loss_and_gradient_in_place(3, 1000, 0, random);
  });
}

TEST(CrossEntropy, RefusesWhatItCannotDo) {
  alignas(16) static half_t memory[4096];
  alignas(16) static index_t target[1024];
  static float loss_of_rows[2];
  const cross_entropy_args<half_t> good{.x = memory,
                                        .target = target,
                                        .loss = loss_of_rows,
                                        .gradient = memory + 2048,
                                        .rows = 2,
                                        .cols = 1000,
                                        .x_stride = 1000,
                                        .gradient_stride = 1000};
  EXPECT_EQ(both::check(good), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    auto args = good;
    change(args);
    expect_refusal<both>(args, words);
  };
  refuse([](auto& a) { a.cols = 0; }, "must be positive");
  refuse([](auto& a) { a.x_stride = 992; }, "rows would overlap");
  refuse([](auto& a) { a.target = nullptr; }, "null: target");
  refuse([](auto& a) { a.loss = nullptr; }, "null: loss");
  refuse([](auto& a) { ++a.x; }, "aligned");
  refuse([](auto& a) { a.gradient = memory + 8; }, "overlaps x");
  refuse([](auto& a) { a.loss = reinterpret_cast<float*>(memory + 2050); }, "overlaps another result");
  refuse([](auto& a) { a.log_sum = a.loss + 1; }, "overlaps another result");
  refuse([](auto& a) { a.gradient = reinterpret_cast<half_t*>(target); }, "overlaps another result");
  refuse([](auto& a) { ++reinterpret_cast<char*&>(a.loss); }, "not aligned to its elements");
  expect_refusal<gradient_alone>({.x = reinterpret_cast<float*>(memory),
                                  .target = reinterpret_cast<const long_index_t*>(memory),
                                  .rows = 1,
                                  .cols = 8,
                                  .x_stride = 8},
                                 "needs log_sum");
}

}  // namespace rows_test
