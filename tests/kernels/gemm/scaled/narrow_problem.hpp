// SPDX-License-Identifier: MIT
// Random operands in narrow formats, and their product in float64, made from tables of the formats.
#pragma once

#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/block/operands/narrow_tiles.hpp>
#include <tilewright/kernels/gemm/gemm_args.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tilewright::testing_narrow {

/// A floating-point code with these bits, as the formats' specifications define it.
inline double small_float(unsigned code, int exponent_bits, int mantissa_bits, bool ieee) {
  const int bias = (1 << (exponent_bits - 1)) - 1, mantissa = int(code & ((1u << mantissa_bits) - 1));
  const int exponent = int(code >> mantissa_bits & ((1u << exponent_bits) - 1)), all = (1 << exponent_bits) - 1;
  const double sign = code >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
  if (ieee && exponent == all)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (exponent_bits == 4 && exponent == all && mantissa == 7) return std::numeric_limits<double>::quiet_NaN();
  return sign *
         std::ldexp(mantissa + (exponent ? 1 << mantissa_bits : 0), std::max(exponent, 1) - bias - mantissa_bits);
}

/// What a code of a format is before its scale.
template <class F>
struct meaning;
template <class T>
struct meaning<plain_format<T>> {
  static double of(unsigned code, int) { return double(float(bit_cast<T>(static_cast<unsigned short>(code)))); }
};
template <index_t G, class S>
struct meaning<int4_groups<G, S>> {
  static double of(unsigned code, int) { return int(code) - 8; }
};
template <index_t G, class S>
struct meaning<int4_zero_groups<G, S>> {
  static double of(unsigned code, int zero) { return int(code) - zero; }
};
template <index_t G, class S>
struct meaning<e2m1_groups<G, S>> {
  static double of(unsigned code, int) { return small_float(code, 2, 1, false); }
};
template <index_t G, class S>
struct meaning<int8_groups<G, S>> {
  static double of(unsigned code, int) { return int(code ^ 128) - 128; }
};
template <index_t G, class S>
struct meaning<e4m3_groups<G, S>> {
  static double of(unsigned code, int) { return small_float(code, 4, 3, false); }
};
template <index_t G, class S>
struct meaning<e5m2_groups<G, S>> {
  static double of(unsigned code, int) { return small_float(code, 5, 2, true); }
};
template <index_t G, class S>
struct meaning<fp6_groups<3, G, S>> {
  static double of(unsigned code, int) { return small_float(code, 2, 3, false); }
};
template <index_t G, class S>
struct meaning<fp6_groups<2, G, S>> {
  static double of(unsigned code, int) { return small_float(code, 3, 2, false); }
};

/// A random operand (rows, k). Rows of scales have multiples of `unit`, those after the end of k are NaN. Scales have
/// three significant bits, so that a scaled element is exact in bfloat16_t.
template <class F>
struct narrow_operand_data {
  using scale_type = typename F::scale_type;
  index_t rows, k, ld, groups, ld_scales;
  std::vector<unsigned char> words, zeros;
  std::vector<scale_type> scales;

  template <class Random>
  narrow_operand_data(index_t rows_, index_t k_, Random& random, index_t unit) : rows(rows_), k(k_) {
    constexpr index_t whole = F::bits == 6 ? 64 : 128 / F::bits;  // elements of 16 bytes, or of 48
    ld = (k + whole - 1) / whole * whole + whole * index_t(random() % 2);
    groups = F::group == 0 ? 1 : (k + F::group - 1) / std::max<index_t>(F::group, 1);
    ld_scales = (groups + index_t(random() % 3) + unit - 1) / unit * unit;
    words.resize(std::size_t(rows) * std::size_t(ld) * F::bits / 8);
    for (unsigned char& x : words) x = static_cast<unsigned char>(random());  // after the end of k too
    if constexpr (detail::is_plain<F>) {
      for (std::size_t i = 0; i < words.size(); i += 2) {
        const auto x = bit_cast<array<unsigned char, 2>>(bfloat16_t(float(int(random() % 17) - 8) / 4));
        words[i] = x[0], words[i + 1] = x[1];
      }
    }
    scales.resize(std::size_t(rows) * std::size_t(ld_scales));
    zeros.resize(scales.size());
    for (std::size_t i = 0; i < scales.size(); ++i)
      scales[i] =
          scale_type(index_t(i) % ld_scales < groups ? std::ldexp(float(4 + random() % 4), int(random() % 7) - 6)
                                                     : std::numeric_limits<float>::quiet_NaN());
    for (unsigned char& x : zeros) x = static_cast<unsigned char>(random() % 17);
    for (index_t r = 0; r < rows; ++r)
      for (index_t x = 0; x < k; ++x)
        if (!std::isfinite(meaning<F>::of(code(r, x), 0))) words[std::size_t((r * ld + x) * F::bits / 8)] = 0x23;
  }
  unsigned code(index_t row, index_t x) const {
    const std::size_t bit = (std::size_t(row) * std::size_t(ld) + std::size_t(x)) * F::bits;
    unsigned all = 0;
    for (std::size_t b = 0; b < 3 && bit / 8 + b < words.size(); ++b) all |= unsigned(words[bit / 8 + b]) << 8 * b;
    return all >> bit % 8 & ((1u << F::bits) - 1);
  }
  std::size_t group_at(index_t row, index_t x) const {
    return std::size_t(row) * std::size_t(ld_scales) +
           std::size_t(F::group == 0 ? 0 : x / std::max<index_t>(F::group, 1));
  }
  double at(index_t row, index_t x) const {
    const double element = meaning<F>::of(code(row, x), zeros[group_at(row, x)]);
    return detail::is_plain<F> ? element : element * double(float(scales[group_at(row, x)]));
  }
};

/// C (m, n) = A (m, k) B (n, k)^T, and how far a result in float may be from it.
template <class AFormat, class BFormat>
struct narrow_problem {
  std::mt19937 random;
  narrow_operand_data<AFormat> a;
  narrow_operand_data<BFormat> b;
  std::vector<float> c;
  scaled_args args{};

  narrow_problem(index_t m, index_t n, index_t k, unsigned seed, index_t scale_unit = 1)
      : random(seed), a(m, k, random, scale_unit), b(n, k, random, scale_unit) {
    c.assign(std::size_t(m) * std::size_t(n), -7.0f);
    args.m = m, args.n = n, args.k = k, args.lda = a.ld, args.ldb = b.ld, args.ldc = n;
    args.ld_a_scales = a.ld_scales, args.ld_b_scales = b.ld_scales;
    args.a = a.words.data(), args.b = b.words.data(), args.c = c.data();
    args.a_scales = a.scales.data(), args.b_scales = b.scales.data(), args.b_zeros = b.zeros.data();
  }
  /// What is wrong with c; empty: nothing. A NaN or infinite scale makes results NaN or infinite, others are right.
  std::string wrong() const {
    std::vector<double> column(std::size_t(a.k));
    for (index_t j = 0; j < b.rows; ++j) {
      for (index_t x = 0; x < a.k; ++x) column[std::size_t(x)] = b.at(j, x);
      for (index_t i = 0; i < a.rows; ++i) {
        double sum = 0, magnitude = 0;
        for (index_t x = 0; x < a.k; ++x) {
          const double product = a.at(i, x) * column[std::size_t(x)];
          sum += product, magnitude += std::abs(product);
        }
        const float got = c[std::size_t(i) * std::size_t(b.rows) + std::size_t(j)];
        const bool is_right =
            std::isfinite(sum) ? std::abs(double(got) - sum) <= magnitude * 4e-6 : !std::isfinite(got);
        if (!is_right)
          return "(" + std::to_string(a.rows) + ", " + std::to_string(b.rows) + ", " + std::to_string(a.k) + "): C(" +
                 std::to_string(i) + ", " + std::to_string(j) + ") is " + std::to_string(got) + ", not " +
                 std::to_string(sum);
      }
    }
    return {};
  }
};

}  // namespace tilewright::testing_narrow
