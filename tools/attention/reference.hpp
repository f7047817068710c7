// SPDX-License-Identifier: MIT
// How far a result is from attention in double precision.
#pragma once

#include <functional>

#include "inputs.hpp"

namespace attention_program {

struct comparison {
  double relative_error = 0;  // ||O - R|| / ||R|| in the Frobenius norm; NaN if one holds a NaN
  double lse_error = 0;       // the largest difference of the log-sum-exps
  // The element that is farthest off, and what it is and should be.
  std::int64_t worst_head = 0, worst_row = 0, worst_col = 0;
  double worst_result = 0, worst_reference = 0;
};

constexpr double lse_tolerance = 1e-3;
/// NaN is never within the tolerance.
inline bool is_correct(const comparison& c, element type) {
  return c.relative_error <= gemm_program::tolerance_of(type) && c.lse_error <= lse_tolerance;
}

comparison compare_with_reference(const inputs& data, const std::function<void(double)>& progress = {});

}  // namespace attention_program
