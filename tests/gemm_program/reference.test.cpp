// SPDX-License-Identifier: MIT
// The double-precision reference against a product written as three loops, and the error that it measures.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "comparison.hpp"
#include "random.hpp"
#include "reference.hpp"

namespace gemm_program {
namespace {

matrix random_matrix(std::int64_t rows, std::int64_t cols, order storage, element type, std::uint64_t stream,
                     std::int64_t batch = 1) {
  matrix result{rows, cols, storage, type, batch};
  fill_random(result, 3, stream);
  return result;
}

/// Random operands; c is what will be compared, initial_c what was there before.
struct random_problem : inputs {
  explicit random_problem(const problem& p) {
    what = p;
    a = random_matrix(p.m, p.k, p.a_order, p.type, 0, p.batch);
    b = random_matrix(p.k, p.n, p.b_order, p.type, 1, p.batch);
    c = initial_c = random_matrix(p.m, p.n, p.c_order, p.result, 2, p.batch);
    epilogue.scale = 1.5f;
    epilogue.row_scale = random_scales(p.m, 3, 4);
    epilogue.column_scale = random_scales(p.n, 3, 5);
    epilogue.bias = random_matrix(1, p.n, order::row_major, p.result, 6);
    epilogue.residual = random_matrix(p.m, p.n, p.c_order, p.result, 7, p.batch);
  }
  matrix initial_c;
};

/// With every part of an epilogue but gelu and silu.
double naive(const random_problem& x, std::int64_t row, std::int64_t col, std::int64_t z = 0) {
  const problem& p = x.what;
  const epilogue_request& e = p.epilogue;
  double sum = 0;
  for (std::int64_t k = 0; k < p.k; ++k) sum += x.a.value(row, k, z) * x.b.value(k, col, z);
  sum *= double(p.alpha);
  if (e.scale) sum *= 1.5;
  if (e.row_scale) sum *= double(x.epilogue.row_scale[static_cast<std::size_t>(row)]);
  if (e.column_scale) sum *= double(x.epilogue.column_scale[static_cast<std::size_t>(col)]);
  if (e.bias) sum += x.epilogue.bias.value(0, col);
  if (e.activation == tw::activation::relu && sum < 0) sum = 0;
  if (e.residual) sum += x.epilogue.residual.value(row, col, z);
  return sum + (p.beta == 0 ? 0 : double(p.beta) * x.initial_c.value(row, col, z));
}

/// Makes c the reference, rounded to its elements.
void set_exact_result(random_problem& x) {
  compute_reference(x, x.initial_c, [&](const reference_tile& tile) {
    for (std::int64_t row = 0; row < tile.rows; ++row)
      for (std::int64_t col = 0; col < tile.cols; ++col)
        x.c.set_bits_at(x.c.place(tile.row + row, tile.col + col, tile.batch),
                        bits_of(x.c.type, tile.values[row * tile.stride + col]));
  });
}

comparison compare(const random_problem& x) { return compare_with_reference(x, x.initial_c); }

void set_values(matrix& m, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) m.set_bits_at(std::int64_t(i), bits_of(m.type, values[i]));
}

/// Compares some elements of the reference with the naive product.
void expect_naive(const random_problem& x) {
  const problem& p = x.what;
  std::atomic<std::int64_t> elements = 0;
  compute_reference(x, x.initial_c, [&](const reference_tile& tile) {
    elements += tile.rows * tile.cols;
    for (std::int64_t row = 0; row < tile.rows; row += 13)
      for (std::int64_t col = 0; col < tile.cols; col += 11) {
        const double expected = naive(x, tile.row + row, tile.col + col, tile.batch);
        EXPECT_NEAR(tile.values[row * tile.stride + col], expected, 1e-11 * std::max(1.0, std::abs(expected)));
      }
  });
  EXPECT_EQ(elements, p.batch * p.m * p.n);
}

TEST(GemmReference, EqualsTheNaiveProduct) {
  const std::int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {129, 130, 257}, {4, 300, 512}, {131, 1, 1000}, {1, 129, 255}};
  for (const auto& [m, n, k] : sizes)
    for (int layout = 0; layout < 8; ++layout)
      for (const element type : {element::f16, element::bf16})
        expect_naive(random_problem(
            {m, n, k, type, type, order(layout & 1), order(layout >> 1 & 1), order(layout >> 2), 1.5f, -0.25f}));
}

TEST(GemmReference, TakesEveryTypeBatchesAndEpilogues) {
  using enum element;
  const element types[][2] = {{f32, f32},      {e4m3, bf16}, {e5m2, f32}, {e4m3fnuz, f16},
                              {e5m2fnuz, f32}, {i8, i32},    {i8, f16}};
  for (const auto& [type, result] : types) {
    problem p{
        .m = 131, .n = 37, .k = 65, .type = type, .result = result, .b_order = order::col_major, .beta = 2, .batch = 3};
    expect_naive(random_problem(p));
    p.c_order = order::col_major;
    p.epilogue = {.row_scale = true, .bias = true, .activation = tw::activation::relu};
    expect_naive(random_problem(p));
    p.epilogue = {.scale = true, .column_scale = true, .residual = true};
    expect_naive(random_problem(p));
  }
}

TEST(GemmReference, KnowsSmoothActivations) {
  problem p{.m = 1, .n = 1, .k = 1};
  random_problem x(p);
  set_values(x.a, {1});
  set_values(x.b, {0.5});
  const auto reference = [&](tw::activation kind) {
    double value = 0;
    x.what.epilogue.activation = kind;
    compute_reference(x, x.initial_c, [&](const reference_tile& tile) { value = tile.values[0]; });
    return value;
  };
  EXPECT_NEAR(reference(tw::activation::silu), 0.5 / (1 + std::exp(-0.5)), 1e-15);
  EXPECT_NEAR(reference(tw::activation::gelu), 0.345714, 1e-6);  // 0.345731 with the error function
}

TEST(GemmReference, ProgressGrowsToOne) {
  const random_problem x({.m = 300, .n = 300, .k = 40});
  double last = 0;
  compute_reference(
      x, x.initial_c, [](const reference_tile&) {},
      [&](double fraction) {
        EXPECT_GE(fraction, last);
        EXPECT_LE(fraction, 1);
        last = fraction;
      });
  EXPECT_EQ(last, 1);
}

TEST(GemmReference, AnExceptionComesOut) {
  const random_problem x({.m = 300, .n = 300, .k = 4});
  EXPECT_THROW(compute_reference(x, x.initial_c, [](const reference_tile&) { throw refusal("no"); }), refusal);
}

TEST(GemmComparison, RoundingAloneIsCorrect) {
  using enum element;
  const std::pair<element, element> types[] = {{f16, f16},   {bf16, bf16},     {f32, f32},
                                               {e4m3, e4m3}, {e5m2, e5m2fnuz}, {i8, i32}};
  for (const auto& [type, result] : types) {
    random_problem x({.m = 200,
                      .n = 150,
                      .k = 64,
                      .type = type,
                      .result = result,
                      .c_order = order::col_major,
                      .alpha = 2,
                      .beta = 1});
    set_exact_result(x);
    const comparison c = compare(x);
    EXPECT_EQ(c.relative_error > 0, result != i32);
    EXPECT_LT(c.relative_error, is_fp8(result) ? 1e-1 : type == f16 ? 4e-4 : 3e-3);
    EXPECT_TRUE(is_correct(c, result)) << name_of(result) << " " << c.relative_error;
    EXPECT_EQ(compare(x).relative_error, c.relative_error) << "the same digits";
  }
}

TEST(GemmComparison, OneWrongElementIsFound) {
  random_problem x({.m = 200, .n = 150, .k = 64, .batch = 2});
  set_exact_result(x);
  x.c.set_bits_at(x.c.place(199, 3, 1), bits_of(element::f16, 60));
  const comparison c = compare(x);
  EXPECT_FALSE(is_correct(c, element::f16));
  EXPECT_EQ(c.worst_batch, 1);
  EXPECT_EQ(c.worst_row, 199);
  EXPECT_EQ(c.worst_col, 3);
  EXPECT_EQ(c.worst_result, 60);
  EXPECT_NEAR(c.worst_reference, naive(x, 199, 3, 1), 1e-12);
}

TEST(GemmComparison, OneWrongIntegerIsWrong) {
  random_problem x({.m = 20, .n = 15, .k = 64, .type = element::i8, .result = element::i32});
  set_exact_result(x);
  x.c.set_bits_at(7, x.c.bits_at(7) + 1);
  EXPECT_FALSE(is_correct(compare(x), element::i32));
}

TEST(GemmComparison, WritingBetweenRowsIsWrong) {
  random_problem x({.m = 20, .n = 15, .k = 64});
  set_exact_result(x);
  x.c = with_gap(x.c, 2, poison_of(element::f16));
  EXPECT_TRUE(is_correct(compare(x), element::f16));
  x.c.set_bits_at(7 * 17 + 16, 0);
  EXPECT_FALSE(is_correct(compare(x), element::f16));
}

TEST(GemmComparison, TheNormIsFrobenius) {
  random_problem x({.m = 1, .n = 2, .k = 1});
  set_values(x.a, {1});
  set_values(x.b, {3, 4});
  set_values(x.c, {3, 4.5});
  EXPECT_NEAR(compare(x).relative_error, 0.1, 1e-7);  // less what underflow explains
}

TEST(GemmComparison, NanAndInfinityPassOnlyWhereTheyShouldBe) {
  random_problem x({.m = 20, .n = 15, .k = 8});
  set_exact_result(x);
  const matrix good = x.c;
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    x.c = good;
    x.c.set_bits_at(7, bits_of(element::f16, bad));
    const comparison c = compare(x);
    EXPECT_FALSE(is_correct(c, element::f16));
    EXPECT_EQ(c.worst_row * 15 + c.worst_col, 7);
  }
  for (const double special : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    x.c = good;
    x.a.set_bits_at(0, bits_of(element::f16, special));
    EXPECT_FALSE(is_correct(compare(x), element::f16)) << "not in the result";
    set_exact_result(x);
    EXPECT_TRUE(is_correct(compare(x), element::f16)) << compare(x).relative_error;
    x.c.set_bits_at(3, bits_of(element::f16, -special) ^ 1);
    EXPECT_EQ(is_correct(compare(x), element::f16), special != special) << "NaN is NaN, whatever its bits";
  }
}

TEST(GemmComparison, WhatLeavesTheRangeIsInfinite) {
  random_problem x({.m = 3, .n = 3, .k = 64});
  set_values(x.a, std::vector<double>(3 * 64, 300));
  set_values(x.b, std::vector<double>(3 * 64, 300));
  set_exact_result(x);
  EXPECT_TRUE(std::isinf(x.c.value(0, 0)));
  EXPECT_TRUE(is_correct(compare(x), element::f16));
  for (const double wrong : {65504.0, -std::numeric_limits<double>::infinity(), std::nan("")}) {
    x.c.set_bits_at(4, bits_of(element::f16, wrong));
    EXPECT_FALSE(is_correct(compare(x), element::f16)) << wrong;
  }
}

TEST(GemmComparison, SumsThatLeaveFloat32MayBeNan) {
  random_problem x({.m = 1, .n = 1, .k = 2, .type = element::bf16, .result = element::bf16});
  set_values(x.a, {1e30, 1e30});
  set_values(x.b, {1e30, -1e30});
  set_values(x.c, {std::nan("")});
  EXPECT_TRUE(is_correct(compare(x), element::bf16)) << "infinity - infinity";
  set_values(x.b, {1, -1});
  EXPECT_FALSE(is_correct(compare(x), element::bf16));
}

TEST(GemmComparison, UnderflowIsRounding) {
  random_problem x({.m = 4, .n = 4, .k = 1});
  set_values(x.a, {1e-4, 2e-4, -1e-4, 3e-4});
  set_values(x.b, {1e-4, 2e-4, 1e-4, 1e-4});
  set_exact_result(x);
  EXPECT_TRUE(is_correct(compare(x), element::f16)) << compare(x).relative_error;
  x.c.set_bits_at(5, 4);  // four times the smallest number
  EXPECT_FALSE(is_correct(compare(x), element::f16));
}

TEST(GemmComparison, ZeroEqualsZeroOnly) {
  random_problem x({.m = 2, .n = 2, .k = 2, .alpha = 0});
  x.c = matrix{2, 2};
  EXPECT_EQ(compare(x).relative_error, 0);
  x.c.set_bits_at(1, 1);
  EXPECT_FALSE(is_correct(compare(x), element::f16));
}

TEST(GemmElements, PoisonIsNotANumberWhereThereIsOne) {
  for (const element type :
       {element::f16, element::bf16, element::f32, element::e4m3, element::e5m2, element::e4m3fnuz, element::e5m2fnuz})
    EXPECT_TRUE(std::isnan(value_of(type, poison_of(type)))) << name_of(type);
  EXPECT_EQ(value_of(element::i32, poison_of(element::i32)), 2147483647);
}

TEST(GemmRandom, DependsOnSeedStreamAndPositionAlone) {
  const matrix rows = random_matrix(37, 2000, order::row_major, element::f16, 5);
  const matrix cols = random_matrix(37, 2000, order::col_major, element::f16, 5);
  const matrix other = random_matrix(37, 2000, order::row_major, element::f16, 6);
  double sum = 0, squares = 0, same = 0;
  for (std::int64_t row = 0; row < 37; ++row)
    for (std::int64_t col = 0; col < 2000; ++col) {
      ASSERT_EQ(rows.bits(row, col), cols.bits(row, col));
      const double value = rows.value(row, col);
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
}  // namespace gemm_program
