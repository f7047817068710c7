// SPDX-License-Identifier: MIT
// Division by a number that is known only at run time, but divided by often: a multiplication and a shift.
#pragma once

#include <tilewright/util/index.hpp>

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
