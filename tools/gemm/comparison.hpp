// SPDX-License-Identifier: MIT
// How far a result is from the double-precision reference.
#pragma once

#include <cstdint>
#include <functional>

#include "inputs.hpp"

namespace gemm_program {

struct comparison {
  double relative_error = 0;  // ||C - R|| / ||R|| in the Frobenius norm; NaN if C or R holds a NaN
  // The element that is farthest off, and what it is and should be.
  std::int64_t worst_batch = 0, worst_row = 0, worst_col = 0;
  double worst_result = 0, worst_reference = 0;
  bool gaps_kept = true;  // nothing was written between the rows (columns) of C
};

/// NaN is never within the tolerance.
inline bool is_correct(const comparison& c, element type) {
  return c.gaps_kept && c.relative_error <= tolerance_of(type);
}

/// Compares data.c with what it should be; initial_c, its old contents, is not read if beta is 0.
comparison compare_with_reference(const inputs& data, const matrix& initial_c,
                                  const std::function<void(double)>& progress = {});

}  // namespace gemm_program
