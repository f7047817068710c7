// SPDX-License-Identifier: MIT
// Transforms that permute one dimension by another, so that a column of a tile spreads over the banks of LDS: xor,
// swizzle by a bit matrix, of which all XOR layouts are cases, and cyclic shift.
#pragma once

#include <tilewright/core/transform/transform.hpp>

namespace tilewright {

namespace detail {
/// Lower d0 is upper d0, lower d1 is upper d1 permuted. The first parameters are the lengths of (d0, d1).
struct permuting_rules : default_rules {
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t i) { return p[i]; }
  TILEWRIGHT_HD static constexpr void run(const index_t*, index_t, const index_t*, index_t* up_run) {
    up_run[0] = up_run[1] = 1;
  }
};
}  // namespace detail

/// Parameters: the lengths of (d0, d1). lower d0 = upper d0, lower d1 = upper d1 ^ (upper d0 % length of d1).
template <>
struct detail::transform_rules<transform_kind::xor_modulo> : detail::permuting_rules {
  /// low = (up[0], up[1] ^ (up[0] mod length of d1)).
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = up[0];
    low[1] = up[1] ^ tilewright::modulo(up[0], p[1]);
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

/// Parameters: the lengths of (d0, d1), then one number for each bit of d0, from the least significant one on.
/// lower d0 = upper d0; lower d1 = upper d1 ^ (xor of the numbers whose bit is set in upper d0).
template <>
struct detail::transform_rules<transform_kind::swizzle> : detail::permuting_rules {
  /// low = (up[0], up[1] ^ numbers of the bits of up[0]).
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = up[0];
    low[1] = up[1];
    // A constant number of rounds: nvcc keeps p in memory unless it can unroll the loop at once.
    TILEWRIGHT_UNROLL(16)
    for (index_t i = 0; i < transform_spec::max_parameters - 2; ++i) {
      if (1 << i < p[0]) low[1] ^= -(up[0] >> i & 1) & p[2 + i];
    }
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t*, index_t) { return true; }
};

/// lower d0 = upper d0; lower d1 = upper d1 ^ (xor of the flips whose bit is set in upper d0): a matrix of bits times
/// d0. Flips: one number for each bit of d0, each smaller than the length of d1. Both lengths are powers of two.
/// No vectors along either dimension.
template <index_t Length0, index_t Length1, index_t... Flips>
TILEWRIGHT_HD constexpr auto make_swizzle_transform(const tuple<number<Length0>, number<Length1>>& lengths,
                                                    sequence<Flips...>) {
  static_assert(detail::is_power_of_two(Length0) && detail::is_power_of_two(Length1),
                "swizzle: both lengths must be powers of two");
  static_assert(sizeof...(Flips) == detail::log2_floor(Length0),
                "swizzle: one number is needed for each bit of the first dimension");
  static_assert(((0 <= Flips && Flips < Length1) && ...),
                "swizzle: a number has bits that the permuted dimension does not have");
  return apply(
      [](auto... l) { return detail::make_transform<transform_kind::swizzle, 2, 2>(l..., number<Flips>{}...); },
      lengths);
}

/// Parameters: the lengths of (d0, d1). lower d0 = upper d0, lower d1 = (upper d1 + upper d0) % length of d1.
template <>
struct detail::transform_rules<transform_kind::cyclic_shift> : detail::permuting_rules {
  /// low = (up[0], (up[1] + up[0]) mod length of d1).
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = up[0];
    low[1] = index_t((unsigned(up[1]) + unsigned(up[0])) % unsigned(p[1]));
  }
};

/// lower d0 = upper d0, lower d1 = (upper d1 + upper d0) % length of d1, for lengths (d0, d1): each row of d1 is
/// rotated by d0. A bijection for every length; see make_xor_transform for powers of two, which costs less.
/// No vectors along either dimension.
template <class Length0, class Length1>
TILEWRIGHT_HD constexpr auto make_cyclic_shift_transform(const tuple<Length0, Length1>& lengths) {
  detail::require_lengths<Length0, Length1>();
  return detail::make_transform_of<transform_kind::cyclic_shift, 2, 2>(lengths);
}

}  // namespace tilewright
