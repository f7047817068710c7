// SPDX-License-Identifier: MIT
// How far a result is from the double-precision reference.
#pragma once

#include <cstdint>
#include <functional>

#include "matrix.hpp"

namespace gemm_example {

struct comparison {
  double relative_error = 0;                  // ||C - R|| / ||R|| in the Frobenius norm; NaN if C or R holds a NaN
  std::int64_t worst_row = 0, worst_col = 0;  // the element that is farthest off, and what it is and should be
  double worst_result = 0, worst_reference = 0;
};

/// The largest relative error of a correct result.
constexpr double tolerance_of(element type) { return type == element::f16 ? 2e-3 : 1e-2; }

/// NaN is never within the tolerance.
inline bool is_correct(const comparison& c, element type) { return c.relative_error <= tolerance_of(type); }

/// Compares `result` with alpha A B + beta initial_c; initial_c is not read if beta is 0.
comparison compare_with_reference(const problem& p, const matrix& a, const matrix& b, const matrix& initial_c,
                                  const matrix& result, const std::function<void(double)>& progress = {});

}  // namespace gemm_example
