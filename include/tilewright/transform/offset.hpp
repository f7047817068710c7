// SPDX-License-Identifier: MIT
// lower = upper + a constant.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: upper length, offset.
template <>
struct transform_rules<transform_kind::offset> {
  static constexpr bool linear = true;

  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = index_t(unsigned(up[0]) + unsigned(p[1]));  // see embed
  }
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t, index_t) { return p[0]; }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t*, index_t, index_t) { return -1; }
  TILEWRIGHT_HD static constexpr bool is_valid(const index_t*, const index_t*) { return true; }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t, const index_t* low_run, index_t* up_run) {
    up_run[0] = detail::gcd_of_known(detail::gcd_of_known(low_run[0], p[0]), p[1]);
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t) { return p[1] == 0; }
};

template <class Length, class Offset>
TILEWRIGHT_HD constexpr auto make_offset_transform(Length length, Offset offset) {
  return detail::make_transform<transform_kind::offset, 1, 1>(length, offset);
}

}  // namespace tilewright
