// SPDX-License-Identifier: MIT
// The xor transform: permutes one dimension by another, so that a column of a tile spreads over the banks of LDS.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: the lengths of (d0, d1). lower d0 = upper d0, lower d1 = upper d1 ^ (upper d0 % length of d1).
template <>
struct detail::transform_rules<transform_kind::xor_modulo> : detail::default_rules {
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = up[0];
    low[1] = up[1] ^ tilewright::modulo(up[0], p[1]);
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t i) { return p[i]; }
  TILEWRIGHT_HD static constexpr void run(const index_t*, index_t, const index_t*, index_t* up_run) {
    up_run[0] = up_run[1] = 1;
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t) { return detail::is_power_of_two(p[1]); }
};

/// lower d0 = upper d0, lower d1 = upper d1 ^ (upper d0 % length of d1), for lengths (d0, d1). The length of d1 must be
/// a static power of two: for any other length this is not a bijection; see make_cyclic_shift_transform.
/// No vectors along either dimension.
template <class Length0, class Length1>
TILEWRIGHT_HD constexpr auto make_xor_transform(const tuple<Length0, Length1>& lengths) {
  static_assert(detail::is_number_v<Length1>,
                "xor: the length of the permuted dimension must be known at compile time: number<8>{}");
  static_assert(
      detail::is_power_of_two(detail::static_value_v<Length1>),
      "xor: the length of the permuted dimension must be a power of two; otherwise two indices meet in one place; "
      "make_cyclic_shift_transform takes any length");
  if constexpr (detail::KnownLengths<Length0, Length1>) {
    return detail::static_transform<transform_kind::xor_modulo, 2, 2, Length0, Length1>{};
  } else {
    detail::require_lengths<Length0>();
    return detail::make_transform_of<transform_kind::xor_modulo, 2, 2>(lengths);
  }
}

}  // namespace tilewright
