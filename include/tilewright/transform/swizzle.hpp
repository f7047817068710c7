// SPDX-License-Identifier: MIT
// The swizzle transform: permutes one dimension by a bit matrix over another; all XOR layouts are cases of it.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: the lengths of (d0, d1), then one number for each bit of d0, from the least significant one on.
/// lower d0 = upper d0; lower d1 = upper d1 ^ (xor of the numbers whose bit is set in upper d0).
template <>
struct detail::transform_rules<transform_kind::swizzle> : detail::default_rules {
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = up[0];
    low[1] = up[1];
    // A constant number of rounds: nvcc keeps p in memory unless it can unroll the loop at once.
    TILEWRIGHT_UNROLL(16)
    for (index_t i = 0; i < transform_spec::max_parameters - 2; ++i) {
      if (1 << i < p[0]) low[1] ^= -(up[0] >> i & 1) & p[2 + i];
    }
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t i) { return p[i]; }
  TILEWRIGHT_HD static constexpr void run(const index_t*, index_t, const index_t*, index_t* up_run) {
    up_run[0] = up_run[1] = 1;
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

}  // namespace tilewright
