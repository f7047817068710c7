// SPDX-License-Identifier: MIT
// Fits the constants of the model to one half of the measurements.
#pragma once

#include <string>
#include <vector>

#include "measured_gemm.hpp"

namespace predict {

/// A constant by its name in cdna_gemm_constants.
struct fitted_constant {
  std::string name;
  double value;
};

struct fit_result {
  tw::cdna_gemm_constants constants;
  double mean_error;  ///< Of |log(predicted / measured)|, at most 1 for a row; rows weigh as in fit().
};

/// Constants with the least mean error over the rows that is_fitted() picks, found from `start` one constant at a time
/// in at most `rounds` rounds. Groups of rows (GPU, element bits, library, time) weigh as the square root of their
/// size.
fit_result fit(const std::vector<measured_gemm>& rows, const tw::cdna_gemm_constants& start, int rounds);

std::vector<fitted_constant> values_of(const tw::cdna_gemm_constants& c);

}  // namespace predict
