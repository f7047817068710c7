// SPDX-License-Identifier: MIT
// Makes a dimension longer on its left, on its right or on both sides; what is added does not exist in memory.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: lower length, left pad, right pad. lower = upper - left; valid where 0 <= lower < lower length.
template <>
struct transform_rules<transform_kind::pad> {
  static constexpr bool linear = true;

  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = index_t(unsigned(up[0]) - unsigned(p[1]));  // see embed
  }
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t, index_t) {
    return p[0] == dynamic || p[1] == dynamic || p[2] == dynamic ? dynamic : p[0] + p[1] + p[2];
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t) { return p[0]; }
  TILEWRIGHT_HD static constexpr bool is_valid(const index_t* p, const index_t* up) {
    return unsigned(up[0]) - unsigned(p[1]) < unsigned(p[0]);
  }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t, const index_t* low_run, index_t* up_run) {
    // A vector must lie wholly inside or wholly outside of the original tensor. Lengths known only at run time are covered by
    // the promise that came with them, which the lower run already contains.
    index_t r = low_run[0];
    if (p[0] != dynamic) r = gcd(r, p[0]);
    up_run[0] = detail::gcd_of_known(r, p[1]);
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t) { return p[1] == 0; }
};

/// lower = upper - left; the upper length is left + length + right.
template <class Length, class Left, class Right>
TILEWRIGHT_HD constexpr auto make_pad_transform(Length length, Left left, Right right) {
  return detail::make_transform<transform_kind::pad, 1, 1>(length, left, right);
}
template <class Length, class Left>
TILEWRIGHT_HD constexpr auto make_left_pad_transform(Length length, Left left) {
  return make_pad_transform(length, left, number<0>{});
}
template <class Length, class Right>
TILEWRIGHT_HD constexpr auto make_right_pad_transform(Length length, Right right) {
  return make_pad_transform(length, number<0>{}, right);
}

}  // namespace tilewright
