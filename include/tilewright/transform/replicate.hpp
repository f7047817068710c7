// SPDX-License-Identifier: MIT
// The replicate transform: dimensions that memory lacks; every index along them is the same element.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: the upper lengths.
template <>
struct detail::transform_rules<transform_kind::replicate> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::unit;

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

}  // namespace tilewright
