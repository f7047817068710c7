// SPDX-License-Identifier: MIT
// The unmerge transform: one lower dimension as several upper ones in row-major order.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: the n upper lengths.
template <>
struct detail::transform_rules<transform_kind::unmerge> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::row_major;

  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t n, const index_t* up, index_t* low) {
    unsigned sum = unsigned(up[0]);  // unsigned, because below a pad an index may be anything
    for (index_t i = 1; i < n; ++i) sum = sum * unsigned(p[i]) + unsigned(up[i]);
    low[0] = index_t(sum);
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t n, index_t) {
    index_t length = 1;
    for (index_t i = 0; i < n; ++i) length = detail::multiply(length, p[i]);
    return length;
  }
  TILEWRIGHT_HD static constexpr long_index_t least_lower_length(const index_t* p, index_t n, index_t) {
    long_index_t length = 1;
    for (index_t i = 0; i < n && length <= detail::largest_index; ++i) length *= p[i] == dynamic ? 0 : p[i];
    return length;
  }
  TILEWRIGHT_HD static constexpr bool fits(const index_t* p, index_t n) {
    return least_lower_length(p, n, 0) <= detail::largest_index + 1;
  }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t n, const index_t* low_run, index_t* up_run) {
    for (index_t i = 0; i < n; ++i) up_run[i] = 1;
    up_run[n - 1] = detail::gcd_of_known(low_run[0], p[n - 1]);
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t n) { return detail::digits_are_bits(p, n); }
};

/// lower = row-major linearisation of the upper indices; the last is the fastest. Vectors pass to the last upper
/// dimension as far as their length divides its length, if that is static.
template <class... Lengths>
TILEWRIGHT_HD constexpr auto make_unmerge_transform(const tuple<Lengths...>& upper_lengths) {
  static_assert(sizeof...(Lengths) >= 1, "unmerge: at least one length is needed");
  detail::require_lengths<Lengths...>();
  return detail::make_transform_of<transform_kind::unmerge, 1, sizeof...(Lengths)>(upper_lengths);
}

}  // namespace tilewright
