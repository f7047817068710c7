// SPDX-License-Identifier: MIT
// Integer mathematics on lengths and indices.
#pragma once

#include <tilewright/core/base/index.hpp>

namespace tilewright {

namespace detail {

inline constexpr float log2_e = 1.442695041f, ln_2 = 0.6931471806f;

/// Types of plus, max and min.
struct plus_function {
  template <class T>
  TILEWRIGHT_HD constexpr T operator()(T a, T b) const {
    return a + b;
  }
};
struct max_function {
  template <class T>
  TILEWRIGHT_HD constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct min_function {
  template <class T>
  TILEWRIGHT_HD constexpr T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

}  // namespace detail

/// The sum, the larger and the smaller of two; the first of equals. Objects, so that reductions take them by name.
/// For floats that may be NaN call exec::max and exec::min; reductions do.
TILEWRIGHT_CONSTANT detail::plus_function plus{};
TILEWRIGHT_CONSTANT detail::max_function max{};
TILEWRIGHT_CONSTANT detail::min_function min{};

/// a / b rounded up, for a >= 0 and b > 0; without overflow.
template <class T>
TILEWRIGHT_HD constexpr T ceil_div(T a, T b) {
  return a / b + (a % b != 0);
}

namespace detail {

/// Greatest common divisor, never negative; of 0 and n it is |n|.
template <class T>
TILEWRIGHT_HD constexpr T gcd(T a, T b) {
  while (b != 0) {
    const T rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/// 1, 2, 4, ...; not 0, nothing negative.
TILEWRIGHT_HD constexpr bool is_power_of_two(long_index_t n) { return n > 0 && (n & (n - 1)) == 0; }

/// The largest k with 2^k <= n, for n > 0.
TILEWRIGHT_HD constexpr index_t log2_floor(index_t n) {
  index_t k = 0;
  while (n >>= 1) ++k;
  return k;
}

/// The next multiple, for a >= 0 and multiple > 0; the result must fit.
template <class T>
TILEWRIGHT_HD constexpr T round_up(T a, T multiple) {
  return ceil_div(a, multiple) * multiple;
}

/// The number of the lowest bit that is set, for bits != 0.
TILEWRIGHT_HD constexpr index_t lowest_set_bit(unsigned bits) {
#if defined(__CUDACC__) && !defined(__clang__)  // nvcc takes the builtin for a function of the host
  index_t i = 0;
  for (index_t step = 16; step > 0; step /= 2) {
    if ((bits & ((1u << step) - 1)) != 0) continue;
    bits >>= step;
    i += step;
  }
  return i;
#else
  return __builtin_ctz(bits);
#endif
}

}  // namespace detail

/// a / b, rounded down, for a >= 0 and b > 0. Computed unsigned: signed division by a power of two costs three
/// instructions more.
TILEWRIGHT_HD constexpr index_t divide(index_t a, index_t b) { return index_t(unsigned(a) / unsigned(b)); }
/// a modulo b, for a >= 0 and b > 0; computed unsigned.
TILEWRIGHT_HD constexpr index_t modulo(index_t a, index_t b) { return index_t(unsigned(a) % unsigned(b)); }

}  // namespace tilewright

namespace tilewright::detail {

/// What the division by one divisor needs. Made once, on the host; see make_magic_division.
struct magic_division {
  unsigned multiplier = 1;
  index_t shift = 0;

  /// n / divisor, for 0 <= n < 2^31. (Granlund and Montgomery, "Division by invariant
  /// integers using multiplication", 1994.)
  TILEWRIGHT_HD constexpr index_t divide(index_t n) const {
    const unsigned dividend = unsigned(n);
    const unsigned high = unsigned((static_cast<unsigned long long>(dividend) * multiplier) >> 32);
    return index_t((high + dividend) >> shift);
  }

  /// n / divisor rounded downwards, for any n.
  TILEWRIGHT_HD constexpr index_t divide_rounding_down(index_t n) const {
    const index_t all_ones_if_negative = n >> 31;
    return divide(n ^ all_ones_if_negative) ^ all_ones_if_negative;  // ~n = -n - 1 is not negative
  }

  friend constexpr bool operator==(const magic_division&, const magic_division&) = default;
};

/// For a divisor from 1 to 2^31 - 1. Needs a division of 64-bit numbers itself.
TILEWRIGHT_HD constexpr magic_division make_magic_division(index_t divisor) {
  const unsigned d = unsigned(divisor);
  index_t shift = 0;
  while ((1u << shift) < d) ++shift;
  const unsigned long long excess = (1ull << shift) - d;
  return {unsigned((excess << 32) / d + 1), shift};
}

}  // namespace tilewright::detail
