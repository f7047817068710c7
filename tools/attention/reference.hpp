// SPDX-License-Identifier: MIT
// How far results are from attention in double precision.
#pragma once

#include <algorithm>
#include <array>
#include <functional>

#include "inputs.hpp"

namespace attention_program {

struct comparison {
  double relative_error = 0;  // ||O - R|| / ||R|| of the finite elements, Frobenius; infinite if others differ
  double lse_error = 0;       // the largest difference of the log-sum-exps
  // Of dQ, dK and dV: ||difference|| / (||R|| + ||M|| / 64), where M adds up magnitudes instead of terms: these may
  // cancel, and then their rounding errors are all that is left.
  std::array<double, 3> gradient_errors{};
  // The element that is farthest off, and what it is and should be.
  std::int64_t worst_head = 0, worst_row = 0, worst_col = 0;
  double worst_result = 0, worst_reference = 0;
};

constexpr double lse_tolerance = 1e-3;
/// NaN is never within the tolerance.
inline bool is_correct(const comparison& c, element type) {
  const double tolerance = gemm_program::tolerance_of(type);
  return c.relative_error <= tolerance && c.lse_error <= lse_tolerance &&
         std::all_of(c.gradient_errors.begin(), c.gradient_errors.end(), [&](double e) { return e <= tolerance; });
}

comparison compare_with_reference(const inputs& data, const std::function<void(double)>& progress = {});

}  // namespace attention_program
