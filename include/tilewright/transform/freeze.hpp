// SPDX-License-Identifier: MIT
// Fixes a lower dimension to one index; the user no longer sees it.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: the index.
template <>
struct transform_rules<transform_kind::freeze> {
  static constexpr bool linear = true;

  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t*, index_t* low) { low[0] = p[0]; }
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t*, index_t, index_t) { return -1; }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t*, index_t, index_t) { return -1; }
  TILEWRIGHT_HD static constexpr bool is_valid(const index_t*, const index_t*) { return true; }
  TILEWRIGHT_HD static constexpr void run(const index_t*, index_t, const index_t*, index_t*) {}
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t) { return p[0] == 0; }
};

template <class Index>
TILEWRIGHT_HD constexpr auto make_freeze_transform(Index index) {
  return detail::make_transform<transform_kind::freeze, 1, 0>(index);
}

}  // namespace tilewright
