// SPDX-License-Identifier: MIT
// Runs grouped products on the CPU emulator and compares every element of C with what it should be.
#pragma once

#include <tilewright/kernels/gemm/grouped/grouped_hopper.hpp>
#include <tilewright/launch/launch.hpp>

#include "../../explored.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace tilewright::testing_gemm {

/// Rows (or k) of each group, and how they lie: one after the other, with `after` more that belong to no group; or in
/// slots.
struct grouped_problem {
  std::vector<index_t> counts;
  index_t n = 8, k = 8;  // where groups divide k: m
  index_t slot_rows = 0, after = 0;
  bool rows_of_scales_are_contiguous = false;
  float alpha = 1, beta = 0;
  bool has_workspace = false;
};

/// Operands are small integers, so that sums are exact. What belongs to no group is not a number, and so are a row (a
/// k) of the last group that has any, and C where it is not read.
template <class Policy>
struct grouped_case {
  using T = typename Policy::element_type;
  using R = typename Policy::result_type;
  static constexpr bool by_rows = Policy::groups == group_kind::rows, a_along_k = Policy::a_major == operand_major::k,
                        b_along_k = Policy::b_major == operand_major::k;
  static constexpr bool scaled = Policy::is_block_scaled;
  static constexpr index_t gap = 16;

  explicit grouped_case(const grouped_problem& p) : counts(p.counts) {
    const index_t groups = index_t(counts.size());
    index_t end = 0;
    for (const index_t count : counts) {
      begins.push_back(p.slot_rows > 0 ? index_t(begins.size()) * p.slot_rows : end);
      ends.push_back(end += count);
    }
    const index_t all = p.slot_rows > 0 ? groups * p.slot_rows : end + p.after;
    args.m = by_rows ? all : p.k;
    args.n = p.n;
    args.k = by_rows ? p.k : all;
    args.alpha = p.alpha;
    args.beta = p.beta;
    args.groups = groups;
    args.slot_rows = p.slot_rows;
    args.lda = (a_along_k ? args.k : args.m) + gap;
    args.ldb = (b_along_k ? args.k : args.n) + gap;
    args.ldc = args.n + gap;
    const index_t a_rows = a_along_k ? args.m : args.k, b_rows = b_along_k ? args.n : args.k;
    if (by_rows) args.batch_stride_b = long_index_t(args.ldb) * b_rows + gap;
    if (!by_rows) args.batch_stride_c = long_index_t(args.ldc) * args.m + gap;
    a.resize(std::size_t(args.lda) * std::size_t(a_rows));
    b.resize(std::size_t(by_rows ? args.batch_stride_b * groups : long_index_t(args.ldb) * b_rows));
    c.resize(std::size_t(by_rows ? long_index_t(args.ldc) * args.m : args.batch_stride_c * groups));
    std::mt19937 random(1);
    const auto integer = [&] { return float(int(random() % 7) - 3); };
    for (T& x : b) x = type_convert<T>(integer());
    for (R& x : c) x = type_convert<R>(p.beta == 0 ? __builtin_nanf("") : integer());
    index_t last = groups - 1;
    while (last > 0 && counts[std::size_t(last)] == 0) --last;
    for (index_t i = 0; i < a_rows; ++i) {
      const index_t group = group_of(i);
      const bool nan = by_rows && (group < 0 || (group == last && i == begins[std::size_t(group)]));
      for (index_t j = 0; j < args.lda; ++j) {
        T& x = a[std::size_t(long_index_t(i) * args.lda + j)];
        x = type_convert<T>(nan || (!by_rows && group < 0) ? __builtin_nanf("") : integer());
      }
      if (by_rows) continue;
      for (index_t j = 0; j < args.ldb; ++j) {
        T& x = b[std::size_t(long_index_t(i) * args.ldb + j)];
        if (group < 0 || (group == last && i == begins[std::size_t(group)])) x = type_convert<T>(__builtin_nanf(""));
      }
    }
    if constexpr (scaled) {
      const index_t k_blocks = ceil_div(args.k, 128), n_blocks = ceil_div(args.n, 128);
      args.row_stride_a_scales = p.rows_of_scales_are_contiguous ? k_blocks + 1 : 1;
      args.k_stride_a_scales = p.rows_of_scales_are_contiguous ? 1 : args.m + 3;
      args.ld_b_scales = k_blocks + 2;
      args.batch_stride_b_scales = n_blocks * args.ld_b_scales + 1;
      a_scales.resize(std::size_t(args.m + 3) * std::size_t(k_blocks + 1));
      b_scales.resize(std::size_t(groups * args.batch_stride_b_scales));
      for (std::vector<float>* scales : {&a_scales, &b_scales}) {
        for (float& x : *scales) x = 0.25f * float(1 << random() % 4);
      }
      args.a_scales = a_scales.data();
      args.b_scales = b_scales.data();
    }
    args.a = a.data();
    args.b = b.data();
    args.c = c.data();
    (p.slot_rows > 0 ? args.counts : args.ends) = p.slot_rows > 0 ? counts.data() : ends.data();
  }

  /// The group of a row (of k); -1: none.
  index_t group_of(index_t row) const {
    for (std::size_t g = 0; g < counts.size(); ++g) {
      if (row >= begins[g] && row < begins[g] + counts[g]) return index_t(g);
    }
    return -1;
  }

  double scale([[maybe_unused]] index_t group, [[maybe_unused]] index_t i, [[maybe_unused]] index_t j,
               [[maybe_unused]] index_t k_block) const {
    if constexpr (scaled) {
      return double(a_scales[std::size_t(i * args.row_stride_a_scales + k_block * args.k_stride_a_scales)]) *
             double(b_scales[std::size_t(group * args.batch_stride_b_scales + j / 128 * args.ld_b_scales + k_block)]);
    }
    return 1;
  }

  /// x, y: the values of A and B.
  double product(const double* x, const double* y, index_t group, index_t i, index_t j, index_t first,
                 index_t last) const {
    x += a_along_k ? long_index_t(i) * args.lda : i;
    y += (by_rows ? group * args.batch_stride_b : 0) + (b_along_k ? long_index_t(j) * args.ldb : j);
    const long_index_t x_step = a_along_k ? 1 : args.lda, y_step = b_along_k ? 1 : args.ldb;
    double sum = 0, block = 0;
    for (index_t l = first; l < last; ++l) {
      block += x[l * x_step] * y[l * y_step];
      if (l % 128 != 127 && l + 1 < last) continue;
      sum += block * scale(group, i, j, l / 128);
      block = 0;
    }
    return sum;
  }

  /// `got` is C after the launch, `c` C before it.
  void expect(const std::vector<R>& got) const {
    std::vector<R> wanted = c;
    std::vector<double> x, y;
    for (const T value : a) x.push_back(double(float(value)));
    for (const T value : b) y.push_back(double(float(value)));
    const auto set = [&](long_index_t place, double sum) {
      R& value = wanted[std::size_t(place)];
      value =
          type_convert<R>(float(args.alpha * sum + (args.beta == 0 ? 0.0 : double(args.beta) * double(float(value)))));
    };
    for (index_t g = 0; g < args.groups; ++g) {
      const index_t begin = begins[std::size_t(g)], end = begin + counts[std::size_t(g)];
      for (index_t i = by_rows ? begin : 0; i < (by_rows ? end : args.m); ++i) {
        for (index_t j = 0; j < args.n; ++j)
          set(g * args.batch_stride_c + long_index_t(i) * args.ldc + j,
              product(x.data(), y.data(), g, i, j, by_rows ? 0 : begin, by_rows ? args.k : end));
      }
    }
    index_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float x = float(got[i]), y = float(wanted[i]);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (++wrong < 4) ADD_FAILURE() << "element " << i << " of C is " << x << ", not " << y;
    }
    EXPECT_EQ(wrong, 0);
  }

  std::vector<index_t> counts, begins, ends;
  typename Policy::args_type args;
  std::vector<T> a, b;
  std::vector<float> a_scales, b_scales;
  std::vector<R> c;
};

template <class Kernel, class Policy>
emulator::launch_report launch_and_expect(grouped_case<Policy>& gemm, const launch_options& options = {.workers = 1}) {
  auto c = gemm.c;
  gemm.args.c = c.data();
  const emulator::launch_report report = launch<Kernel>(gemm.args, options);
  gemm.expect(c);
  return report;
}

/// With Kernel: another one that takes the same arguments.
template <class Policy, class Kernel = grouped_gemm_kernel<Policy>>
emulator::launch_report expect_grouped(const grouped_problem& p, launch_options options = {.workers = 1}) {
  grouped_case<Policy> gemm(p);
  options.check_lds = emulator::lds_checks::on;
  using size = hopper_gemm_workspace;
  // Not a number, so that a part that is read before it was written is seen in the result.
  std::vector<float> workspace(p.has_workspace ? size::bytes / sizeof(float) : 0, __builtin_nanf(""));
  std::fill_n(workspace.begin(), p.has_workspace ? size::num_counters : 0, 0.0f);
  if (p.has_workspace) gemm.args.workspace = workspace.data();
  const emulator::launch_report report = launch_and_expect<Kernel>(gemm, options);
  if (p.has_workspace) {
    EXPECT_EQ(std::count(workspace.begin(), workspace.begin() + size::num_counters, 0.0f), size::num_counters);
  }
  EXPECT_EQ(report.totals.conflicts, 0);
  return report;
}

/// A small problem in many schedules.
template <class Policy, class Kernel = grouped_gemm_kernel<Policy>>
void explore_grouped(const grouped_problem& p) {
  testing_schedules::expect_in_explored_schedules([&] { expect_grouped<Policy, Kernel>(p, {.resident_clusters = 1}); });
}

/// What check() says when a right product's arguments are changed; empty if nothing.
template <class Policy, class Kernel = grouped_gemm_kernel<Policy>>
std::string refusal(auto change) {
  grouped_case<Policy> gemm({.counts = {3, 4}, .n = 16, .k = 16});
  change(gemm.args);
  const char* const why = Kernel::check(gemm.args);
  return why ? why : "";
}

}  // namespace tilewright::testing_gemm
