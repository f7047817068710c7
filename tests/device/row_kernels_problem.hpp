// SPDX-License-Identifier: MIT
// Inputs of the kernels that work on rows, and how far their results may be from double precision.
#pragma once

#include "../max_error.hpp"
#include "row_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace row_kernels {

/// `rows` is no multiple of what a block takes.
inline constexpr index_t rows = 11;

inline std::vector<half_t> numbers(index_t n, index_t seed) {
  std::vector<half_t> values(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) values[std::size_t(i)] = half_t(float((i * 37 + i / 97 * seed) % 401 - 200) / 40);
  return values;
}

struct softmax_problem {
  static constexpr index_t cols = softmax<64>::cols;
  std::vector<half_t> x = numbers(rows * cols, 13), y = std::vector<half_t>(x.size(), half_t(-7.0f));

  softmax_args args() { return {x.data(), y.data(), rows}; }
  /// The largest relative error; half_t rounds to 2^-11, or absolutely where it is subnormal.
  double error() const {
    double worst = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < cols; ++c) sum += std::exp(double(x[r * cols + c]));
      for (std::size_t c = 0; c < cols; ++c) {
        const double wanted = std::exp(double(x[r * cols + c])) / sum;
        worst = max_error(worst, std::fabs(double(y[r * cols + c]) - wanted) / std::max(wanted, std::exp2(-14)));
      }
    }
    return worst;
  }
};

struct rms_norm_problem {
  static constexpr index_t cols = rms_norm<64>::cols;
  std::vector<half_t> x = numbers(rows * cols, 11), before = numbers(rows * cols, 5), weight = numbers(cols, 3),
                      residual = before, y = std::vector<half_t>(x.size(), half_t(-7.0f));

  rms_norm_args args() { return {x.data(), weight.data(), residual.data(), y.data(), rows}; }
  /// The largest absolute error; results are less than 32.
  double error() const {
    double worst = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      double squares = 0;
      const auto sum = [&](std::size_t c) { return double(x[r * cols + c]) + double(before[r * cols + c]); };
      for (std::size_t c = 0; c < cols; ++c) squares += sum(c) * sum(c);
      for (std::size_t c = 0; c < cols; ++c) {
        const double wanted = sum(c) / std::sqrt(squares / cols + 1e-5) * double(weight[c]);
        worst = max_error(worst, std::fabs(double(y[r * cols + c]) - wanted));
        worst = max_error(worst, std::fabs(double(residual[r * cols + c]) - sum(c)));
      }
    }
    return worst;
  }
};

inline constexpr double softmax_tolerance = 2e-3, rms_norm_tolerance = 1.0 / 128;

}  // namespace row_kernels
