// SPDX-License-Identifier: MIT
// Runs Hopper's kernels for narrow weights on the CPU emulator and compares every bit of C with what it should be.
#pragma once

#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_narrow_gemm.hpp>
#include <tilewright/launch/launch.hpp>

#include "../../explored.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace tilewright::testing_narrow {

/// A format of a user's: signed powers of two, two of them in a byte.
struct powers_of_two : operand_format<unsigned char, 2, half_t, 32> {
  static constexpr double number(unsigned code) { return (code & 8 ? -0.25 : 0.25) * double(1 << (code & 7)); }
  template <class T>
  TILEWRIGHT_HD static array<T, 2> decode(unsigned char word) {
    return {T(float(number(word & 15u))), T(float(number(word >> 4)))};
  }
};

/// What a code of a format is, before its scale, from the format's definition.
template <class Format>
double value_of(unsigned code, int zero) {
  constexpr double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  if constexpr (std::is_same_v<Format, powers_of_two>)
    return Format::number(code);
  else if constexpr (Format::bits == 4 &&
                     std::is_same_v<Format, e2m1_groups<Format::group, typename Format::scale_type>>)
    return (code & 8 ? -1 : 1) * e2m1[code & 7];
  else if constexpr (Format::bits == 4)
    return double(code) - (Format::has_zero_points ? zero : 8);
  else if constexpr (std::is_same_v<Format, int8_groups<Format::group, typename Format::scale_type>>)
    return double(int(code ^ 128) - 128);
  else
    return (code & 128 ? -1 : 1) *
           ((code >> 3 & 15) == 0 ? std::ldexp(code & 7, -9) : std::ldexp(8 + (code & 7), int(code >> 3 & 15) - 10));
}

struct shape {
  index_t m, n, k;
  float alpha = 1, beta = 0;
  index_t batch = 1;
  bool aligned_scales = true;
  std::vector<index_t> ends = {};  ///< of the groups of rows, if there are any
};

/// Operands whose sums are exact in float: C is known to the bit.
template <class Policy>
struct narrow_case {
  using format = typename Policy::b_format;
  using T = typename Policy::element_type;
  using R = typename Policy::result_type;
  using S = typename format::scale_type;
  static constexpr bool a_along_k = Policy::a_major == operand_major::k;
  std::vector<T> a;
  std::vector<unsigned char> w, zeros;
  std::vector<S> scales;
  std::vector<R> c, expected;
  std::vector<index_t> ends;
  narrow_args args{};

  explicit narrow_case(const shape& s, unsigned seed = 1) : ends(s.ends) {
    const index_t matrices = s.ends.empty() ? s.batch : index_t(s.ends.size());  // of W
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return int(random() % n); };
    args.m = s.m, args.n = s.n, args.k = s.k, args.alpha = s.alpha, args.beta = s.beta, args.batch = s.batch;
    constexpr index_t vector = 16 / index_t(sizeof(T));
    args.lda = tilewright::detail::round_up(a_along_k ? s.k : s.m, vector) + vector * below(2);
    args.ldb = tilewright::detail::round_up(s.k, 128 / format::bits) + 128 / format::bits * below(2);
    args.ldc = s.n + 8;
    const index_t groups = format::group == 0 ? 1 : ceil_div(s.k, max(format::group, 1));
    args.ld_b_scales = s.aligned_scales ? tilewright::detail::round_up(groups, 16) : groups + below(2);
    args.batch_stride_a = long_index_t{args.lda} * (a_along_k ? s.m : s.k);
    args.batch_stride_b = long_index_t{args.ldb} * s.n;
    args.batch_stride_c = long_index_t{args.ldc} * s.m;
    args.batch_stride_b_scales = long_index_t{args.ld_b_scales} * s.n;
    a.resize(std::size_t(args.batch_stride_a * s.batch));
    w.resize(std::size_t(args.batch_stride_b * matrices * format::bits / 8));
    scales.resize(std::size_t(args.batch_stride_b_scales * matrices));
    zeros.resize(scales.size());
    c.resize(std::size_t(args.batch_stride_c * s.batch));
    for (T& x : a) x = type_convert<T>(float(s.k > 2000 ? below(3) - 1 : below(7) - 3));
    for (unsigned char& x : w) x = static_cast<unsigned char>(format::bits == 4 || below(2) ? below(256) : below(16));
    if constexpr (format::bits == 8) {
      // Products of eights bits that are exact in T, and no NaN.
      for (unsigned char& x : w) x = std::is_same_v<S, float> ? x & 0xbf : x & 0x9f;
    }
    for (S& x : scales) x = type_convert<S>(std::ldexp(1.0f, below(4) - 2));
    for (unsigned char& x : zeros) x = static_cast<unsigned char>(below(17));
    for (R& x : c) x = type_convert<R>(s.beta == 0 ? __builtin_nanf("") : float(below(5) - 2));
    expected = c;
    for (index_t z = 0; z < s.batch; ++z) {
      for (index_t n = 0; n < s.n; ++n) {
        std::vector<double> column(std::size_t(s.k));
        index_t of = -1;  // which W `column` is of
        for (index_t m = 0; m < s.m; ++m) {
          const index_t matrix = s.ends.empty() ? z : group_of(m);
          if (matrix == matrices) continue;  // a row of no group
          for (index_t k = 0; k < s.k && matrix != of; ++k) column[std::size_t(k)] = weight(matrix, n, k);
          of = matrix;
          double sum = 0;
          for (index_t k = 0; k < s.k; ++k) sum += double(float(a_at(z, m, k))) * column[std::size_t(k)];
          R& r = expected[std::size_t(z * args.batch_stride_c + long_index_t{m} * args.ldc + n)];
          r = type_convert<R>(float(s.alpha * sum + (s.beta == 0 ? 0.0 : double(s.beta) * double(float(r)))));
        }
      }
    }
    if (!ends.empty()) args.groups = matrices, args.ends = ends.data();
    args.a = a.data(), args.b = w.data(), args.c = c.data(), args.b_scales = scales.data(), args.b_zeros = zeros.data();
  }

  index_t group_of(index_t m) const { return index_t(std::upper_bound(ends.begin(), ends.end(), m) - ends.begin()); }
  T a_at(index_t z, index_t m, index_t k) const {
    return a[std::size_t(z * args.batch_stride_a +
                         (a_along_k ? long_index_t{m} * args.lda + k : long_index_t{k} * args.lda + m))];
  }
  /// W (n, k) as it is multiplied.
  double weight(index_t z, index_t n, index_t k) const {
    const long_index_t at = z * args.batch_stride_b + long_index_t{n} * args.ldb + k;
    const unsigned byte = w[std::size_t(at * format::bits / 8)];
    const unsigned code = format::bits == 8 ? byte : at % 2 == 0 ? byte & 15 : byte >> 4;
    const index_t g = format::group == 0 ? 0 : k / max(format::group, 1);
    const auto of_group = std::size_t(z * args.batch_stride_b_scales + long_index_t{n} * args.ld_b_scales + g);
    const double exact = value_of<format>(code, zeros[of_group]) * double(float(scales[of_group]));
    EXPECT_EQ(double(float(type_convert<T>(float(exact)))), exact);
    return exact;
  }
};

template <class Policy, class Kernel = hopper_narrow_gemm<Policy>>
void expect_narrow(const shape& s, unsigned seed = 1) {
  SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
  narrow_case<Policy> x(s, seed);
  std::vector<float> workspace(hopper_gemm_workspace::bytes / sizeof(float), __builtin_nanf(""));
  std::fill_n(workspace.begin(), hopper_gemm_workspace::num_counters, 0.0f);
  x.args.workspace = workspace.data();
  const emulator::launch_report report =
      launch<Kernel>(x.args, {.workers = 1, .resident_clusters = 4, .check_lds = emulator::lds_checks::on});
  if (s.aligned_scales && s.k % (4 * Policy::tile_k) == 0) {
    EXPECT_EQ(report.totals.conflicts, 0);
  }
  index_t wrong = 0;
  for (std::size_t i = 0; i < x.c.size(); ++i) {
    if (std::memcmp(&x.c[i], &x.expected[i], sizeof(x.c[i])) == 0 || wrong++ > 3) continue;
    ADD_FAILURE() << "row " << i / std::size_t(x.args.ldc) << ", column " << i % std::size_t(x.args.ldc) << ": "
                  << float(x.c[i]) << ", not " << float(x.expected[i]);
  }
  EXPECT_EQ(wrong, 0);
}

/// A small problem in many schedules.
template <class Policy, class Kernel = hopper_narrow_gemm<Policy>>
void explore_narrow(const shape& s) {
  testing_schedules::expect_in_explored_schedules([&] { expect_narrow<Policy, Kernel>(s); });
}

}  // namespace tilewright::testing_narrow
