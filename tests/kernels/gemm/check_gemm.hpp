// SPDX-License-Identifier: MIT
// Runs GEMM kernels on the CPU emulator and compares every bit of C, and every counted LDS conflict,
// with what it should be.
#pragma once

#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/lds_prediction.hpp>
#include <tilewright/machine/emulator/launch.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace tilewright::testing_gemm {

struct problem {
  index_t m = 1, n = 1, k = 1;
  float alpha = 1, beta = 0;
  index_t batch = 1;
  index_t gap =
      0;  // elements between one row (column) and the next that belong to no matrix; and between matrices of a batch
  index_t split_k = 1;
};

/// Whether an epilogue is a chain with this function.
template <class Epilogue, class F>
inline constexpr bool contains = false;
template <class... Fs, class F>
inline constexpr bool contains<epilogue::chain<Fs...>, F> =
    ((std::is_same_v<Fs, F> || std::is_same_v<Fs, epilogue::if_given<F>>) || ...);

using relu = epilogue::activation<activation::relu>;
using gelu = epilogue::activation<activation::gelu>;
using silu = epilogue::activation<activation::silu>;
using bias_and_relu = epilogue::chain<epilogue::alpha, epilogue::bias, relu, epilogue::beta>;
using every_part = epilogue::chain<epilogue::alpha, epilogue::scale, epilogue::row_scale, epilogue::column_scale,
                                   epilogue::bias, relu, epilogue::residual, epilogue::beta>;

/// Operands are small integers and alpha and beta powers of two, so that every sum is exact in float and C is rounded
/// once: the expected result is known to the bit, in whatever order a kernel adds.
template <class Policy>
struct gemm_case {
  using policy = Policy;
  using T = typename Policy::element_type;
  using BElement = typename Policy::b_element_type;
  using R = typename Policy::result_type;
  static constexpr bool a_along_k = Policy::a_major == operand_major::k,
                        b_along_k = Policy::b_major == operand_major::k;

  explicit gemm_case(const problem& p)
      : args{.m = p.m, .n = p.n, .k = p.k, .alpha = p.alpha, .beta = p.beta, .batch = p.batch, .split_k = p.split_k} {
    args.lda = (a_along_k ? p.k : p.m) + p.gap;
    args.ldb = (b_along_k ? p.k : p.n) + p.gap;
    args.ldc = p.n + p.gap;
    args.ld_residual = p.n + 2 * p.gap;
    args.batch_stride_a = long_index_t{args.lda} * (a_along_k ? p.m : p.k) + p.gap;
    args.batch_stride_b = long_index_t{args.ldb} * (b_along_k ? p.n : p.k) + p.gap;
    args.batch_stride_c = long_index_t{args.ldc} * p.m + p.gap;
    args.batch_stride_residual = long_index_t{args.ld_residual} * p.m + p.gap;
    std::mt19937 random(1);
    const auto fill = [&]<class V>(std::vector<V>& values, long_index_t size) {
      values.resize(std::size_t(size + padding));
      for (V& value : values) value = type_convert<V>(float(int(random() % 7) - 3));
    };
    fill(a, args.batch_stride_a * p.batch);
    fill(b, args.batch_stride_b * p.batch);
    fill(c, args.batch_stride_c * p.batch);
    fill(residual, args.batch_stride_residual * p.batch);
    fill(bias, p.n);
    const auto powers_of_two = [&](std::vector<float>& values, index_t size) {
      values.resize(std::size_t(size));
      for (float& value : values) value = 0.25f * float(1 << random() % 4);
    };
    powers_of_two(scale, 1);
    powers_of_two(row_scale, p.m);
    powers_of_two(column_scale, p.n);
    if (p.beta == 0) {
      for (R& value : c)
        value = type_convert<R>(std::is_same_v<R, int> ? 77.0f : __builtin_nanf(""));  // C may be anything, then
    }
    expected = c;
    std::vector<double> rows(std::size_t(p.m) * std::size_t(p.k)), columns(std::size_t(p.n) * std::size_t(p.k));
    for (index_t z = 0; z < p.batch; ++z) {
      auto element = rows.begin();
      for (index_t i = 0; i < p.m; ++i) {
        for (index_t l = 0; l < p.k; ++l) *element++ = double(float(a_at(z, i, l)));
      }
      element = columns.begin();
      for (index_t j = 0; j < p.n; ++j) {
        for (index_t l = 0; l < p.k; ++l) *element++ = double(float(b_at(z, l, j)));
      }
      for (index_t i = 0; i < p.m; ++i) {
        for (index_t j = 0; j < p.n; ++j) {
          const double *row = &rows[std::size_t(i) * std::size_t(p.k)],
                       *column = &columns[std::size_t(j) * std::size_t(p.k)];
          double sum = 0;
          for (index_t l = 0; l < p.k; ++l) sum += row[l] * column[l];
          R& result = expected[std::size_t(z * args.batch_stride_c + long_index_t{i} * args.ldc + j)];
          result = type_convert<R>(
              float(finished(z, i, j, sum) + (p.beta == 0 ? 0.0 : double(p.beta) * double(float(result)))));
        }
      }
    }
    args.a = a.data();
    args.b = b.data();
    args.c = c.data();
    args.scale = scale.data();
    args.row_scale = row_scale.data();
    args.column_scale = column_scale.data();
    args.bias = bias.data();
    args.residual = residual.data();
  }

  /// What the epilogue makes of a sum, but for the old C.
  double finished(index_t z, index_t i, index_t j, double x) const {
    if (does<epilogue::alpha>) x *= args.alpha;
    if (does<epilogue::scale>) x *= scale[0];
    if (does<epilogue::row_scale>) x *= row_scale[std::size_t(i)];
    if (does<epilogue::column_scale>) x *= column_scale[std::size_t(j)];
    if (does<epilogue::bias>) x += float(bias[std::size_t(j)]);
    if (does<relu>) x = x < 0 ? 0 : x;
    if (does<gelu>) x = 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
    if (does<silu>) x = x / (1 + std::exp(-x));
    if (does<epilogue::residual>)
      x += float(residual[std::size_t(z * args.batch_stride_residual + long_index_t{i} * args.ld_residual + j)]);
    return x;
  }

  /// Whether the epilogue does this; all pointers are given.
  template <class F>
  static constexpr bool does = contains<tilewright::detail::epilogue_of<Policy>, F>;

  T a_at(index_t z, index_t i, index_t l) const {
    return a[std::size_t(z * args.batch_stride_a +
                         (a_along_k ? long_index_t{i} * args.lda + l : long_index_t{l} * args.lda + i))];
  }
  BElement b_at(index_t z, index_t l, index_t j) const {
    return b[std::size_t(z * args.batch_stride_b +
                         (b_along_k ? long_index_t{j} * args.ldb + l : long_index_t{l} * args.ldb + j))];
  }

  static constexpr long_index_t padding = 64;  // after the last matrix: must not change, either
  gemm_args args;
  std::vector<T> a;
  std::vector<BElement> b;
  std::vector<R> c, expected, bias, residual;
  std::vector<float> scale, row_scale, column_scale;
};

template <class Policy>
std::string describe(const problem& p) {
  constexpr block_tile t = Policy::tile;
  return std::string(Policy::arch::value.name) + ", operation " + std::to_string(int(t.op)) + ", block tile " +
         std::to_string(t.m) + " x " + std::to_string(t.n) + " x " + std::to_string(t.k) + ", vector " +
         std::to_string(Policy::vector) + ", " + std::to_string(p.m) + " x " + std::to_string(p.n) + " x " +
         std::to_string(p.k);
}

/// Adds up what predict_lds says of one launch.
template <class Policy>
std::map<arch::lds_op, emulator::lds_counts> predicted_counts(const gemm_args& args) {
  gemm_lds_prediction prediction;
  prediction = predict_lds<Policy>();  // at run time
  std::map<arch::lds_op, emulator::lds_counts> counts;
  prediction.for_each(num_lds_phases<Policy>(args), [&](const lds_access_analysis& access, long_index_t times) {
    counts[access.op].add({times * access.executions, times * access.phases, times * access.cycles,
                           times * access.conflicts, access.worst_degree});
  });
  return counts;
}

/// Compares all of C, and what lies between its rows, with what it should be.
template <class Policy>
void expect_result(const gemm_case<Policy>& gemm) {
  index_t wrong = 0;
  for (std::size_t i = 0; i < gemm.c.size() && wrong < 5; ++i) {
    using R = typename Policy::result_type;
    const R is = gemm.c[i], should = gemm.expected[i];
    if (std::memcmp(&is, &should, sizeof is) == 0 || (float(is) == 0 && float(should) == 0)) continue;
    // Activations are approximations.
    if ((gemm_case<Policy>::template does<gelu> || gemm_case<Policy>::template does<silu>) &&
        std::abs(float(is) - float(should)) <= 2e-5f + std::abs(float(should)) * 0x1p-10f)
      continue;
    ++wrong;
    const std::size_t in_matrix = i % std::size_t(gemm.args.batch_stride_c);
    ADD_FAILURE() << "row " << in_matrix / std::size_t(gemm.args.ldc) << ", column "
                  << in_matrix % std::size_t(gemm.args.ldc) << ": " << float(gemm.c[i]) << " instead of "
                  << float(gemm.expected[i]);
  }
}

/// Runs a kernel's call on the CPU emulator.
template <class Policy, class Call>
emulator::launch_report launch_blocks(const grid_size& grid, Call call) {
  using kernel = gemm_kernel<Policy>;
  return emulator::launch({.target = &Policy::arch::value,
                           .grid = {grid.x, grid.y, grid.z},
                           .block_size = kernel::block_size,
                           .lds_bytes = kernel::lds_bytes,
                           .workers = 1},
                          call);
}

template <class Policy>
void expect_gemm(const problem& p) {
  using kernel = gemm_kernel<Policy>;
  SCOPED_TRACE(describe<Policy>(p));
  gemm_case<Policy> gemm(p);
  ASSERT_STREQ(kernel::check(gemm.args), nullptr);
  const emulator::launch_report report = launch_blocks<Policy>(kernel::grid(gemm.args), [&] { kernel{}(gemm.args); });
  expect_result(gemm);
  const auto predicted = predicted_counts<Policy>(gemm.args);
  EXPECT_EQ(report.by_op.size(), predicted.size());
  for (const auto& [op, counts] : predicted) {
    const emulator::lds_counts counted = report.of(op);
    EXPECT_EQ(counted.executions, counts.executions) << arch::instruction_name(Policy::arch::value, op);
    EXPECT_EQ(counted.phases, counts.phases) << arch::instruction_name(Policy::arch::value, op);
    EXPECT_EQ(counted.cycles, counts.cycles) << arch::instruction_name(Policy::arch::value, op);
    EXPECT_EQ(counted.conflicts, counts.conflicts) << arch::instruction_name(Policy::arch::value, op);
    EXPECT_EQ(counted.worst_degree, counts.worst_degree) << arch::instruction_name(Policy::arch::value, op);
  }
}

/// Sizes around the block tile's, one and several tiles along k with and without a rest, batches, gaps, alpha and beta.
template <class Policy>
void expect_all_gemms() {
  constexpr block_tile t = Policy::tile;
  if constexpr (Policy::vector == 1) {
    expect_gemm<Policy>({.m = 1, .n = 1, .k = 1});
    expect_gemm<Policy>({.m = t.m + 1, .n = t.n - 1, .k = t.k + 1, .alpha = 0.5f, .beta = 2, .gap = 3});
    expect_gemm<Policy>({.m = 5, .n = t.n + 7, .k = t.k - 1, .alpha = 2, .beta = -1});
    expect_gemm<Policy>({.m = t.m, .n = 3, .k = 3 * t.k + 5, .batch = 2, .gap = 1});
  } else {
    const index_t v = Policy::vector;
    expect_gemm<Policy>({.m = v, .n = v, .k = v});
    expect_gemm<Policy>({.m = t.m, .n = t.n, .k = t.k});
    expect_gemm<Policy>({.m = t.m + v, .n = t.n - v, .k = 2 * t.k + v, .alpha = 0.5f, .beta = 2, .gap = v});
    expect_gemm<Policy>(
        {.m = t.m - v, .n = t.n + v, .k = 4 * t.k - v, .alpha = -1, .beta = 1, .batch = 2, .gap = 3 * v});
  }
}

/// One to six tiles along k, whole and partial ones; edges along m and n.
template <class Policy>
void expect_any_number_of_tiles() {
  static_assert(require_conflict_free_gemm<Policy>());
  constexpr index_t v = Policy::vector, m = Policy::tile.m, n = Policy::tile.n, step = Policy::tile.k;
  for (const index_t length : {v, step, step + v, 2 * step, 3 * step, 5 * step - v, 6 * step}) {
    SCOPED_TRACE(length);
    expect_gemm<Policy>({.m = m + v, .n = n - v, .k = length, .alpha = 2, .beta = 0.5f, .batch = 2, .gap = v});
  }
  expect_gemm<Policy>({.m = v, .n = v, .k = step, .beta = 1});
}

/// Every layout of the operands, both element types, vectors and single elements.
template <class Arch, block_tile Tile>
void expect_all_layouts() {
  using enum operand_major;
  expect_all_gemms<gemm_policy<Arch, half_t, k, mn, 8, Tile>>();
  expect_all_gemms<gemm_policy<Arch, bfloat16_t, mn, k, 8, Tile>>();
  expect_all_gemms<gemm_policy<Arch, bfloat16_t, k, k, 1, Tile>>();
  expect_all_gemms<gemm_policy<Arch, half_t, mn, mn, 1, Tile>>();
}

/// Two of them, for targets that differ from another one only in their tables.
template <class Arch, block_tile Tile>
void expect_some_layouts() {
  using enum operand_major;
  expect_all_gemms<gemm_policy<Arch, half_t, mn, k, 8, Tile>>();
  expect_all_gemms<gemm_policy<Arch, bfloat16_t, k, mn, 1, Tile>>();
}

}  // namespace tilewright::testing_gemm
