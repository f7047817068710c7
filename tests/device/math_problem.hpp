// SPDX-License-Identifier: MIT
// Arguments of exec's functions of floats, and how far results may be from double precision.
#pragma once

#include <tilewright/machine/exec/math.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace math_problem {

namespace exec = tilewright::exec;

enum function : int { exp2, log2, rcp, rsqrt, tanh, sigmoid, abs, max, min, max_int, num_functions };
inline constexpr const char* names[] = {"exp2",    "log2", "rcp", "rsqrt", "tanh",
                                        "sigmoid", "abs",  "max", "min",   "max of ints"};
inline constexpr int size = 8192;

/// out[f * size + i] = f(x[i]) or f(x[i], y[i]).
TILEWRIGHT_HD void run(const float* x, const float* y, float* out, int i) {
  const float a = x[i], b = y[i];
  out[exp2 * size + i] = exec::exp2(a);
  out[log2 * size + i] = exec::log2(a);
  out[rcp * size + i] = exec::rcp(a);
  out[rsqrt * size + i] = exec::rsqrt(a);
  out[tanh * size + i] = exec::tanh(a);
  out[sigmoid * size + i] = exec::sigmoid(a);
  out[abs * size + i] = exec::abs(a);
  out[max * size + i] = exec::max(a, b);
  out[min * size + i] = exec::min(a, b);
  out[max_int * size + i] = float(exec::max(i, 100) + exec::min(i, 50));
}

/// Special values in x and y against each other, then numbers of every size, then numbers near 1 and 0.
struct problem {
  std::vector<float> x, y, out = std::vector<float>(std::size_t(num_functions * size), -77.0f);

  problem() {
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    for (const float a : {0.0f, inf, -inf, nan, 1.0f, -2.0f}) {
      for (const float b : {0.0f, inf, -inf, nan, 1.0f, -2.0f}) {
        x.push_back(a);
        y.push_back(b);
      }
    }
    std::uint32_t state = 12345;
    const auto random = [&] { return float((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f; };
    while (int(x.size()) < size) {
      const auto i = x.size();
      const float sign = random() < 0.5f ? -1.0f : 1.0f;
      x.push_back(i % 3 == 0   ? sign * std::exp2(random() * 248.0f - 124.0f)
                  : i % 3 == 1 ? random() * 200.0f - 100.0f
                               : random() * 2.5f);
      y.push_back(i % 5 == 0 ? nan : random() * 4.0f - 2.0f);
    }
  }
};

/// The function in double precision.
inline double exact(function f, float x, float y, int i) {
  const double a = x;
  switch (f) {
    case exp2: return std::exp2(a);
    case log2: return std::log2(a);
    case rcp: return 1 / a;
    case rsqrt: return 1 / std::sqrt(a);
    case tanh: return std::tanh(a);
    case sigmoid: return 1 / (1 + std::exp(-a));
    case abs: return std::fabs(a);
    case max: return std::fmax(a, double(y));
    case min: return std::fmin(a, double(y));
    default: return (i < 100 ? 100 : i) + (i < 50 ? i : 50);
  }
}

/// The error that is allowed.
inline double tolerance(function f, double x, double expected) {
  const double relative = std::fabs(expected);
  const double ulp = std::exp2(std::floor(std::log2(relative > 0 ? relative : 1)) - 23);
  switch (f) {
    case exp2: return 2 * ulp;
    case log2: return x >= 0.5 && x <= 2 ? std::fmax(3 * ulp, std::exp2(-22)) : 3 * ulp;
    case rcp: return ulp;
    case rsqrt: return 2 * ulp;
    case tanh: return relative * std::exp2(-10.9);
    case sigmoid: return relative * (std::exp2(-21) + std::fabs(x) * std::exp2(-23));
    default: return 0;
  }
}

/// The worst error of a function in allowed errors; `what` says where. More than 1 is a fault.
struct verdict {
  double worst = 0, worst_ulp = 0;
  std::string what;
};

inline verdict judge(const problem& p, function f) {
  constexpr double smallest = std::numeric_limits<float>::min(), largest = std::numeric_limits<float>::max();
  verdict result;
  for (int i = 0; i < size; ++i) {
    const float x = p.x[std::size_t(i)], y = p.y[std::size_t(i)], found = p.out[std::size_t(f * size + i)];
    double expected = exact(f, x, y, i);
    if (std::fabs(expected) > largest) expected = std::copysign(std::numeric_limits<double>::infinity(), expected);
    double error = 0, ulp = 0;
    if (std::isnan(expected) || std::isinf(expected)) {
      const bool same = std::isnan(expected) ? std::isnan(found) : double(found) == expected;
      error = same ? 0 : std::numeric_limits<double>::infinity();
    } else if (std::fabs(expected) < 2 * smallest) {  // subnormal results may be zeros
      error = std::fabs(double(found)) <= 2 * smallest ? 0 : std::numeric_limits<double>::infinity();
    } else {
      const double difference = std::fabs(double(found) - expected), allowed = tolerance(f, x, expected);
      ulp = difference / std::exp2(std::floor(std::log2(std::fabs(expected))) - 23);
      error = difference == 0 ? 0 : difference / allowed;
      if (std::isnan(found)) error = std::numeric_limits<double>::infinity();
    }
    if (ulp > result.worst_ulp) result.worst_ulp = ulp;
    if (error > result.worst) {
      result.worst = error;
      result.what = std::string(names[f]) + "(" + std::to_string(x) + ", " + std::to_string(y) + ") is " +
                    std::to_string(found) + " instead of " + std::to_string(expected);
    }
  }
  return result;
}

}  // namespace math_problem
