// SPDX-License-Identifier: MIT
// The slice transform: a contiguous range of a dimension.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: lower length, begin, end.
template <>
struct detail::transform_rules<transform_kind::slice> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::unit;

  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = index_t(unsigned(up[0]) + unsigned(p[1]));  // see embed
  }
  static constexpr bool upper_lengths_are_parameters = false;
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t, index_t) {
    return p[1] == dynamic || p[2] == dynamic ? dynamic : p[2] - p[1];
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t) { return p[0]; }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t, const index_t* low_run, index_t* up_run) {
    up_run[0] = detail::gcd_of_known(detail::gcd_of_known(low_run[0], p[1]), p[2]);
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t) { return p[1] == 0; }
  TILEWRIGHT_HD static constexpr bool has_constant_term(const index_t* p, index_t) { return p[1] != 0; }
};

namespace detail {

template <index_t Length, index_t Begin, index_t End>
TILEWRIGHT_HD constexpr void require_slice() {
  static_assert(Begin == dynamic || Begin >= 0, "slice: it begins before the dimension");
  static_assert(Begin == dynamic || End == dynamic || Begin < End, "slice: it ends before it begins, or holds nothing");
  static_assert(End == dynamic || Length == dynamic || End <= Length, "slice: it ends after the dimension");
}

}  // namespace detail

/// Indices begin, begin + 1, ... < end of a dimension of the given length: lower = upper + begin, and the upper length
/// is end - begin. Vectors pass as far as their length divides begin and end.
/// 0 <= begin < end <= length is checked where all are static.
template <class Length, class Begin, class End>
TILEWRIGHT_HD constexpr auto make_slice_transform(Length length, Begin begin, End end) {
  detail::require_lengths<Length>();
  static_assert(detail::IndexLike<Begin> && detail::IndexLike<End>,
                "slice: begin and end must be number<N>{} or an integer");
  detail::require_slice<detail::static_value_v<Length>, detail::static_value_v<Begin>, detail::static_value_v<End>>();
  return detail::make_transform<transform_kind::slice, 1, 1>(length, begin, end);
}

}  // namespace tilewright
