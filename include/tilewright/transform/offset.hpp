// SPDX-License-Identifier: MIT
// The offset transform: shifts a dimension by a constant.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: upper length, offset.
template <>
struct detail::transform_rules<transform_kind::offset> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::unit;

  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = index_t(unsigned(up[0]) + unsigned(p[1]));  // see embed
  }
  TILEWRIGHT_HD static constexpr long_index_t least_lower_length(const index_t* p, index_t, index_t) {
    return p[0] == dynamic || p[1] == dynamic ? 0 : long_index_t(p[0]) + p[1];
  }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t, const index_t* low_run, index_t* up_run) {
    up_run[0] = detail::gcd_of_known(detail::gcd_of_known(low_run[0], p[0]), p[1]);
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t) { return p[1] == 0; }
  TILEWRIGHT_HD static constexpr bool has_constant_term(const index_t* p, index_t) { return p[1] != 0; }
};

/// lower = upper + offset, for upper indices below length; the offset must not be negative. Vectors pass that divide
/// both. Where the length of the lower dimension is known, make_slice_transform also checks the end.
template <class Length, class Offset>
TILEWRIGHT_HD constexpr auto make_offset_transform(Length length, Offset offset) {
  detail::require_lengths<Length>();
  static_assert(detail::IndexLike<Offset>, "offset: the offset must be number<N>{} or an integer");
  if constexpr (detail::is_number_v<Offset>) {
    static_assert(Offset::value >= 0,
                  "offset: index 0 would lie before the dimension; use make_left_pad_transform to add elements that do "
                  "not exist");
  }
  return detail::make_transform<transform_kind::offset, 1, 1>(length, offset);
}

}  // namespace tilewright
