// SPDX-License-Identifier: MIT
// Several lower dimensions as one upper one: the upper index is split, the last lower dimension is the fastest.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: the n lower lengths.
template <>
struct transform_rules<transform_kind::merge> {
  static constexpr bool linear = false;

  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t n, const index_t* up, index_t* low) {
    index_t rest = up[0];
    for (index_t i = n - 1; i > 0; --i) {
      low[i] = modulo(rest, p[i]);
      rest = divide(rest, p[i]);
    }
    low[0] = rest;
  }
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t n, index_t) {
    index_t length = 1;
    for (index_t i = 0; i < n; ++i) length = detail::multiply(length, p[i]);
    return length;
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t i) { return p[i]; }
  TILEWRIGHT_HD static constexpr bool is_valid(const index_t*, const index_t*) { return true; }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t n, const index_t* low_run, index_t* up_run) {
    up_run[0] = n == 1 ? low_run[0] : detail::gcd_of_known(low_run[n - 1], p[n - 1]);
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t n) {
    for (index_t i = 1; i < n; ++i) {
      if (p[i] == dynamic || !is_power_of_two(p[i])) return false;
    }
    return true;
  }
};

template <class... Lengths>
TILEWRIGHT_HD constexpr auto make_merge_transform(const tuple<Lengths...>& lower_lengths) {
  return apply([](auto... l) { return detail::make_transform<transform_kind::merge, sizeof...(Lengths), 1>(l...); },
               lower_lengths);
}

}  // namespace tilewright
