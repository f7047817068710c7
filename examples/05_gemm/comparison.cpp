// SPDX-License-Identifier: MIT
// How far a result is from the double-precision reference.
#include "comparison.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "reference.hpp"

namespace gemm_example {
namespace {

struct partial {
  double difference_squared = 0, reference_squared = 0;
  double worst_difference = -1;
  comparison worst;
};

/// A difference for comparing with others: NaN is the farthest.
double distance(double result, double reference) {
  const double difference = std::abs(result - reference);
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

partial compare_tile(const reference_tile& tile, const matrix& result, element type) {
  partial sum;
  for (std::int64_t row = 0; row < tile.rows; ++row)
    for (std::int64_t col = 0; col < tile.cols; ++col) {
      const double reference = tile.values[row * tile.stride + col];
      const double element = value_of(type, result.bits(tile.row + row, tile.col + col));
      sum.difference_squared += (element - reference) * (element - reference);
      sum.reference_squared += reference * reference;
      if (distance(element, reference) > sum.worst_difference) {
        sum.worst_difference = distance(element, reference);
        sum.worst = {.worst_row = tile.row + row,
                     .worst_col = tile.col + col,
                     .worst_result = element,
                     .worst_reference = reference};
      }
    }
  return sum;
}

}  // namespace

comparison compare_with_reference(const problem& p, const matrix& a, const matrix& b, const matrix& initial_c,
                                  const matrix& result, const std::function<void(double)>& progress) {
  std::vector<partial> tiles(static_cast<std::size_t>(reference_tile_count(p)));
  const auto visit = [&](const reference_tile& tile) {
    tiles[static_cast<std::size_t>(tile.index)] = compare_tile(tile, result, p.type);
  };
  compute_reference(p, a, b, initial_c, visit, progress);

  partial total;  // in the order of the tiles, so that the same run gives the same digits
  for (const partial& tile : tiles) {
    total.difference_squared += tile.difference_squared;
    total.reference_squared += tile.reference_squared;
    if (tile.worst_difference > total.worst_difference) {
      total.worst_difference = tile.worst_difference;
      total.worst = tile.worst;
    }
  }
  comparison summary = total.worst;
  const bool both_zero = total.difference_squared == 0 && total.reference_squared == 0;
  summary.relative_error = both_zero ? 0 : std::abs(std::sqrt(total.difference_squared / total.reference_squared));
  return summary;
}

}  // namespace gemm_example
