// SPDX-License-Identifier: MIT
// The pass-through transform: the lower index is the upper one.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: length.
template <>
struct detail::transform_rules<transform_kind::pass_through> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::unit;

  TILEWRIGHT_HD static constexpr void lower(const index_t*, index_t, const index_t* up, index_t* low) {
    low[0] = up[0];
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t) { return p[0]; }
  TILEWRIGHT_HD static constexpr void run(const index_t*, index_t, const index_t* low_run, index_t* up_run) {
    up_run[0] = low_run[0];
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t*, index_t) { return true; }
};

/// lower = upper. Vectors pass.
template <class Length>
TILEWRIGHT_HD constexpr auto make_pass_through_transform(Length length) {
  if constexpr (detail::KnownLengths<Length>) {
    return detail::static_transform<transform_kind::pass_through, 1, 1, Length>{};
  } else {
    detail::require_lengths<Length>();
    return detail::make_transform<transform_kind::pass_through, 1, 1>(length);
  }
}

}  // namespace tilewright
