// SPDX-License-Identifier: MIT
// The middle of some measurements, and how far they lie around it.
#pragma once

#include <algorithm>
#include <vector>

namespace gpu_benchmark {

/// Of at least one value.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Half the distance between the quartiles, over the median.
inline double spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[values.size() * 3 / 4] - values[values.size() / 4]) / 2 / median(values);
}

}  // namespace gpu_benchmark
