// SPDX-License-Identifier: MIT
// The freeze transform: fixes a lower dimension at one index, so that users no longer see it.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: the index.
template <>
struct detail::transform_rules<transform_kind::freeze> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::unit;

  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t*, index_t* low) { low[0] = p[0]; }
  static constexpr bool upper_lengths_are_parameters = false;
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t*, index_t, index_t) { return -1; }
  TILEWRIGHT_HD static constexpr long_index_t least_lower_length(const index_t* p, index_t, index_t) {
    return p[0] == dynamic ? 0 : long_index_t(p[0]) + 1;
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t) { return p[0] == 0; }
  TILEWRIGHT_HD static constexpr bool has_constant_term(const index_t* p, index_t) { return p[0] != 0; }
};

/// lower = index; there is no upper dimension.
template <class Index>
TILEWRIGHT_HD constexpr auto make_freeze_transform(Index index) {
  static_assert(detail::IndexLike<Index>, "freeze: the index must be number<N>{} or an integer");
  static_assert(detail::static_value_v<Index> == dynamic || detail::static_value_v<Index> >= 0,
                "freeze: the index must not be negative");
  return detail::make_transform<transform_kind::freeze, 1, 0>(index);
}

}  // namespace tilewright
