// SPDX-License-Identifier: MIT
// The cyclic-shift transform: rotates one dimension by another; like xor, for lengths that are no power of two.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: the lengths of (d0, d1). lower d0 = upper d0, lower d1 = (upper d1 + upper d0) % length of d1.
template <>
struct detail::transform_rules<transform_kind::cyclic_shift> : detail::default_rules {
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = up[0];
    low[1] = index_t((unsigned(up[1]) + unsigned(up[0])) % unsigned(p[1]));
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t i) { return p[i]; }
  TILEWRIGHT_HD static constexpr void run(const index_t*, index_t, const index_t*, index_t* up_run) {
    up_run[0] = up_run[1] = 1;
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
