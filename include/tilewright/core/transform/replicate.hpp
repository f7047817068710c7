// SPDX-License-Identifier: MIT
// Transforms of dimensions that exist on one side: replicate, where memory has none and every index is the same
// element, and freeze, which fixes one at an index so that users no longer see it.
#pragma once

#include <tilewright/core/transform/transform.hpp>

namespace tilewright {

/// Parameters: the upper lengths.
template <>
struct detail::transform_rules<transform_kind::replicate> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::unit;

  /// There is no lower index.
  TILEWRIGHT_HD static constexpr void lower(const index_t*, index_t, const index_t*, index_t*) {}
  TILEWRIGHT_HD static constexpr void run(const index_t*, index_t n, const index_t*, index_t* up_run) {
    for (index_t i = 0; i < n; ++i) up_run[i] = 1;
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t*, index_t) { return true; }
};

/// Upper dimensions without a lower one. No vectors along them.
template <class... Lengths>
TILEWRIGHT_HD constexpr auto make_replicate_transform(const tuple<Lengths...>& upper_lengths) {
  static_assert(sizeof...(Lengths) >= 1, "replicate: at least one length is needed");
  detail::require_lengths<Lengths...>();
  return apply([](auto... l) { return detail::make_transform<transform_kind::replicate, 0, sizeof...(Lengths)>(l...); },
               upper_lengths);
}

/// One upper dimension without a lower one: a broadcast.
template <class Length>
TILEWRIGHT_HD constexpr auto make_insert_transform(Length upper_length) {
  return make_replicate_transform(make_tuple(upper_length));
}

/// Parameters: the index.
template <>
struct detail::transform_rules<transform_kind::freeze> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::unit;

  /// low[0] = p[0].
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t*, index_t* low) { low[0] = p[0]; }
  static constexpr bool upper_lengths_are_parameters = false;
  /// There is no upper index.
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
