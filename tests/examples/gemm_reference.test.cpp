// SPDX-License-Identifier: MIT
// The double-precision reference against a product written as three loops, and the error that it measures.
#include <atomic>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "comparison.hpp"
#include "random.hpp"
#include "reference.hpp"

namespace gemm_example {
namespace {

matrix random_matrix(std::int64_t rows, std::int64_t cols, order storage, element type, std::uint64_t stream) {
  matrix result{rows, cols, storage, std::vector<std::uint16_t>(static_cast<std::size_t>(rows * cols))};
  fill_random(result, type, 3, stream);
  return result;
}

struct operands {
  explicit operands(const problem& p)
      : a(random_matrix(p.m, p.k, p.a_order, p.type, 0)),
        b(random_matrix(p.k, p.n, p.b_order, p.type, 1)),
        c(random_matrix(p.m, p.n, p.c_order, p.type, 2)) {}
  matrix a, b, c;
};

double naive(const problem& p, const operands& x, std::int64_t row, std::int64_t col) {
  double sum = 0;
  for (std::int64_t k = 0; k < p.k; ++k)
    sum += double(value_of(p.type, x.a.bits(row, k))) * double(value_of(p.type, x.b.bits(k, col)));
  return double(p.alpha) * sum + (p.beta == 0 ? 0 : double(p.beta) * double(value_of(p.type, x.c.bits(row, col))));
}

/// The reference, rounded to the elements of the problem.
matrix exact_result(const problem& p, const operands& x) {
  matrix result{p.m, p.n, p.c_order, std::vector<std::uint16_t>(static_cast<std::size_t>(p.m * p.n))};
  compute_reference(p, x.a, x.b, x.c, [&](const reference_tile& tile) {
    for (std::int64_t row = 0; row < tile.rows; ++row)
      for (std::int64_t col = 0; col < tile.cols; ++col) {
        const std::int64_t place = (tile.row + row) * result.row_stride() + (tile.col + col) * result.col_stride();
        result.elements[static_cast<std::size_t>(place)] = bits_of(p.type, float(tile.values[row * tile.stride + col]));
      }
  });
  return result;
}

TEST(GemmReference, EqualsTheNaiveProduct) {
  const std::int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {129, 130, 257}, {4, 300, 512}, {131, 1, 1000}, {1, 129, 255}};
  for (const auto& [m, n, k] : sizes)
    for (int layout = 0; layout < 8; ++layout)
      for (const element type : {element::f16, element::bf16}) {
        const problem p{m, n, k, type, order(layout & 1), order(layout >> 1 & 1), order(layout >> 2), 1.5f, -0.25f};
        const operands x(p);
        std::atomic<std::int64_t> elements = 0;
        compute_reference(p, x.a, x.b, x.c, [&](const reference_tile& tile) {
          elements += tile.rows * tile.cols;
          for (std::int64_t row = 0; row < tile.rows; row += 13)
            for (std::int64_t col = 0; col < tile.cols; col += 11)
              EXPECT_NEAR(tile.values[row * tile.stride + col], naive(p, x, tile.row + row, tile.col + col), 1e-11);
        });
        EXPECT_EQ(elements, m * n);
      }
}

TEST(GemmReference, ProgressGrowsToOne) {
  const problem p{.m = 300, .n = 300, .k = 40};
  const operands x(p);
  double last = 0;
  compute_reference(
      p, x.a, x.b, x.c, [](const reference_tile&) {},
      [&](double fraction) {
        EXPECT_GE(fraction, last);
        EXPECT_LE(fraction, 1);
        last = fraction;
      });
  EXPECT_EQ(last, 1);
}

TEST(GemmReference, AnExceptionComesOut) {
  const problem p{.m = 300, .n = 300, .k = 4};
  const operands x(p);
  EXPECT_THROW(compute_reference(p, x.a, x.b, x.c, [](const reference_tile&) { throw refusal("no"); }), refusal);
}

TEST(GemmComparison, RoundingAloneIsCorrect) {
  for (const element type : {element::f16, element::bf16}) {
    const problem p{.m = 200, .n = 150, .k = 64, .type = type, .c_order = order::col_major, .alpha = 2, .beta = 1};
    const operands x(p);
    const matrix result = exact_result(p, x);
    const comparison c = compare_with_reference(p, x.a, x.b, x.c, result);
    EXPECT_GT(c.relative_error, 0);
    EXPECT_LT(c.relative_error, type == element::f16 ? 4e-4 : 3e-3);
    EXPECT_TRUE(is_correct(c, type));
    EXPECT_EQ(compare_with_reference(p, x.a, x.b, x.c, result).relative_error, c.relative_error) << "the same digits";
  }
}

TEST(GemmComparison, OneWrongElementIsFound) {
  const problem p{.m = 200, .n = 150, .k = 64};
  const operands x(p);
  matrix result = exact_result(p, x);
  result.elements[199 * 150 + 3] = bits_of(p.type, 50);
  const comparison c = compare_with_reference(p, x.a, x.b, x.c, result);
  EXPECT_FALSE(is_correct(c, p.type));
  EXPECT_EQ(c.worst_row, 199);
  EXPECT_EQ(c.worst_col, 3);
  EXPECT_EQ(c.worst_result, 50);
  EXPECT_NEAR(c.worst_reference, naive(p, x, 199, 3), 1e-12);
}

TEST(GemmComparison, TheNormIsFrobenius) {
  const problem p{.m = 1, .n = 2, .k = 1};
  operands x(p);
  x.a.elements = {bits_of(p.type, 1)};
  x.b.elements = {bits_of(p.type, 3), bits_of(p.type, 4)};
  x.c.elements = {bits_of(p.type, 3), bits_of(p.type, 4.5)};
  EXPECT_DOUBLE_EQ(compare_with_reference(p, x.a, x.b, x.c, x.c).relative_error, 0.1);
}

TEST(GemmComparison, NanAndInfinityNeverPass) {
  const problem p{.m = 20, .n = 15, .k = 8};
  operands x(p);
  const matrix good = exact_result(p, x);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    matrix result = good;
    result.elements[7] = bits_of(p.type, bad);
    const comparison c = compare_with_reference(p, x.a, x.b, x.c, result);
    EXPECT_FALSE(is_correct(c, p.type));
    EXPECT_EQ(c.worst_row * 15 + c.worst_col, 7);
  }
  x.a.elements[0] = nan_bits;
  EXPECT_FALSE(is_correct(compare_with_reference(p, x.a, x.b, x.c, good), p.type)) << "a NaN in the reference";
}

TEST(GemmComparison, ZeroEqualsZeroOnly) {
  const problem p{.m = 2, .n = 2, .k = 2, .alpha = 0};
  const operands x(p);
  matrix zero{2, 2, order::row_major, std::vector<std::uint16_t>(4)};
  EXPECT_EQ(compare_with_reference(p, x.a, x.b, x.c, zero).relative_error, 0);
  zero.elements[1] = 1;
  EXPECT_FALSE(is_correct(compare_with_reference(p, x.a, x.b, x.c, zero), p.type));
}

TEST(GemmRandom, DependsOnSeedStreamAndPositionAlone) {
  const matrix rows = random_matrix(37, 2000, order::row_major, element::f16, 5);
  const matrix cols = random_matrix(37, 2000, order::col_major, element::f16, 5);
  const matrix other = random_matrix(37, 2000, order::row_major, element::f16, 6);
  double sum = 0, squares = 0, same = 0;
  for (std::int64_t row = 0; row < 37; ++row)
    for (std::int64_t col = 0; col < 2000; ++col) {
      ASSERT_EQ(rows.bits(row, col), cols.bits(row, col));
      const double value = value_of(element::f16, rows.bits(row, col));
      ASSERT_LE(std::abs(value), 1);
      sum += value;
      squares += value * value;
      same += rows.bits(row, col) == other.bits(row, col);
    }
  EXPECT_NEAR(sum / 74000, 0, 0.01);
  EXPECT_NEAR(squares / 74000, 1.0 / 3, 0.01);
  EXPECT_LT(same / 74000, 0.01);
}

}  // namespace
}  // namespace gemm_example
