// SPDX-License-Identifier: MIT
// How far a result is from the double-precision reference.
#include "comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference.hpp"

namespace gemm_program {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct partial {
  double difference_squared = 0, reference_squared = 0;
  double worst_difference = -1;
  comparison worst;
};

double at_least_one(double factor) { return std::max(1.0, std::abs(factor)); }

/// The largest factor that the epilogue may multiply a sum with, on the way to element (row, col).
double largest_factor(const inputs& data, std::int64_t row, std::int64_t col) {
  const epilogue_request& e = data.what.epilogue;
  double factor = at_least_one(double(data.what.alpha));
  if (e.scale) factor *= at_least_one(double(data.epilogue.scale));
  if (e.row_scale) factor *= at_least_one(double(data.epilogue.row_scale[static_cast<std::size_t>(row)]));
  if (e.column_scale) factor *= at_least_one(double(data.epilogue.column_scale[static_cast<std::size_t>(col)]));
  return factor;
}

/// Whether sums in float32 may become infinite although the exact one is finite.
bool may_leave_float32(const inputs& data, std::int64_t row, std::int64_t col, std::int64_t batch) {
  double magnitude = 0;
  for (std::int64_t k = 0; k < data.what.k; ++k)
    magnitude += std::abs(data.a.value(row, k, batch) * data.b.value(k, col, batch));
  return std::isfinite(magnitude) &&  // else the reference has the infinity or NaN
         magnitude * largest_factor(data, row, col) >= double(std::numeric_limits<float>::max());
}

partial compare_tile(const inputs& data, const element_comparison& compare, const reference_tile& tile) {
  partial sum;
  for (std::int64_t i = 0; i < tile.rows; ++i)
    for (std::int64_t j = 0; j < tile.cols; ++j) {
      const std::int64_t row = tile.row + i, col = tile.col + j;
      const double reference = tile.values[i * tile.stride + j];
      const double element = data.c.value(row, col, tile.batch);
      double difference = compare.distance(element, reference);
      // After a wrong element the others need no excuse.
      if (difference == infinity && !std::isfinite(element) && sum.worst_difference < infinity &&
          may_leave_float32(data, row, col, tile.batch))
        difference = 0;
      sum.difference_squared += difference * difference;
      if (std::isfinite(element) && std::isfinite(reference)) sum.reference_squared += reference * reference;
      if (difference > sum.worst_difference) {
        sum.worst_difference = difference;
        sum.worst = {.worst_batch = tile.batch,
                     .worst_row = row,
                     .worst_col = col,
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

/// What rounding may hide: of the result, and of every term in float32, where machines may flush to zero.
double underflow_of(const inputs& data) {
  const element type = data.what.result;
  if (is_integer(type)) return 0;
  const double factor = at_least_one(double(data.what.alpha)) * at_least_one(double(data.epilogue.scale));
  const double of_terms = double(std::numeric_limits<float>::min()) * double(data.what.k) * factor;
  const double smallest = value_of(type, 1);  // the bit pattern after that of zero
  return smallest * (0.5 + tolerance_of(type)) + of_terms;
}

}  // namespace

double element_comparison::distance(double result, double reference) const {
  if (std::isnan(result) && std::isnan(reference)) return 0;
  const double largest = largest_of(type_), difference = std::max(0.0, std::abs(result - reference) - underflow_);
  if (std::isfinite(result) && std::abs(reference) <= largest) return difference;
  if (result == value_of(type_, bits_of(type_, reference))) return 0;
  // Next to the end of the range the error of the sum decides which side the result is on.
  const bool is_near = std::abs(std::abs(reference) - largest) <= tolerance_of(type_) * largest &&
                       std::signbit(result) == std::signbit(reference);
  if (!is_near || std::isnan(result)) return infinity;
  return std::isfinite(result) ? difference : 0;
}

comparison compare_with_reference(const inputs& data, const matrix& initial_c,
                                  const std::function<void(double)>& progress) {
  std::vector<partial> tiles(static_cast<std::size_t>(reference_tile_count(data.what)));
  const element_comparison compare(data.what.result, underflow_of(data));
  const auto visit = [&](const reference_tile& tile) {
    tiles[static_cast<std::size_t>(tile.index)] = compare_tile(data, compare, tile);
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
  summary.relative_error =
      total.difference_squared == 0 ? 0 : std::sqrt(total.difference_squared / total.reference_squared);
  summary.gaps_kept = gaps_are_kept(data.c);
  return summary;
}

}  // namespace gemm_program
