// SPDX-License-Identifier: MIT
// How far a result is from the double-precision reference.
#pragma once

#include <cstdint>
#include <functional>

#include "inputs.hpp"

namespace gemm_program {

struct comparison {
  // ||C - R|| / ||R|| in the Frobenius norm of the elements that are finite; infinite if an element is NaN or infinite
  // and should not be, or the other way round.
  double relative_error = 0;
  // The element that is farthest off, and what it is and should be.
  std::int64_t worst_batch = 0, worst_row = 0, worst_col = 0;
  double worst_result = 0, worst_reference = 0;
  bool gaps_kept = true;  // nothing was written between the rows (columns) of C
};

inline bool is_correct(const comparison& c, element type) {
  return c.gaps_kept && c.relative_error <= tolerance_of(type);
}

/// Compares numbers of a type as IEEE 754 has them: NaN with NaN, infinities by their sign, and an exact value beyond
/// the type's range with what rounding makes of it. `underflow`: the error that rounding of the smallest numbers
/// explains; it does not count.
class element_comparison {
 public:
  element_comparison(element type, double underflow) : type_(type), underflow_(underflow) {}

  /// How far a result is off; infinite if only one of both is a number, or an infinity.
  double distance(double result, double reference) const;

 private:
  element type_;
  double underflow_;
};

/// Compares data.c with what it should be; initial_c, its old contents, is not read if beta is 0. The kernels add in
/// float32: an element that is not finite is right if the magnitudes of its terms leave that range.
comparison compare_with_reference(const inputs& data, const matrix& initial_c,
                                  const std::function<void(double)>& progress = {});

}  // namespace gemm_program
