// SPDX-License-Identifier: MIT
// The larger of two errors.
#pragma once

#include <limits>

/// The larger of two errors; one that is no number is larger than all numbers, where std::max would lose it.
inline double max_error(double worst, double error) {
  if (error <= worst) return worst;
  return error == error ? error : std::numeric_limits<double>::infinity();
}
