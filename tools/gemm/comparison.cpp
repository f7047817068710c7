// SPDX-License-Identifier: MIT
// How far a result is from the double-precision reference.
#include "comparison.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "reference.hpp"

namespace gemm_program {
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

partial compare_tile(const reference_tile& tile, const matrix& result) {
  partial sum;
  for (std::int64_t row = 0; row < tile.rows; ++row)
    for (std::int64_t col = 0; col < tile.cols; ++col) {
      const double reference = tile.values[row * tile.stride + col];
      const double element = result.value(tile.row + row, tile.col + col, tile.batch);
      sum.difference_squared += (element - reference) * (element - reference);
      sum.reference_squared += reference * reference;
      if (distance(element, reference) > sum.worst_difference) {
        sum.worst_difference = distance(element, reference);
        sum.worst = {.worst_batch = tile.batch,
                     .worst_row = tile.row + row,
                     .worst_col = tile.col + col,
                     .worst_result = element,
                     .worst_reference = reference};
      }
    }
  return sum;
}

bool gaps_are_kept(const matrix& m) {
  const std::uint32_t poison = poison_of(m.type);
  for (std::int64_t line = 0; line < m.batch * m.lines(); ++line)
    for (std::int64_t i = m.leading_dimension() - m.gap; i < m.leading_dimension(); ++i)
      if (m.bits_at(line * m.leading_dimension() + i) != poison) return false;
  return true;
}

}  // namespace

comparison compare_with_reference(const inputs& data, const matrix& initial_c,
                                  const std::function<void(double)>& progress) {
  std::vector<partial> tiles(static_cast<std::size_t>(reference_tile_count(data.what)));
  const auto visit = [&](const reference_tile& tile) {
    tiles[static_cast<std::size_t>(tile.index)] = compare_tile(tile, data.c);
  };
  compute_reference(data, initial_c, visit, progress);

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
  summary.gaps_kept = gaps_are_kept(data.c);
  return summary;
}

}  // namespace gemm_program
