// SPDX-License-Identifier: MIT
// The modulo transform: repeats a dimension.
#pragma once

#include <tilewright/core/transform/transform.hpp>

namespace tilewright {

/// Parameters: modulus, upper length.
template <>
struct detail::transform_rules<transform_kind::modulo> : detail::default_rules {
  /// low[0] = up[0] mod p[0].
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = tilewright::modulo(up[0], p[0]);
  }
  static constexpr bool upper_lengths_are_parameters = false;
  /// The length given by the user.
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t, index_t) { return p[1]; }
  TILEWRIGHT_HD static constexpr long_index_t least_lower_length(const index_t* p, index_t, index_t) {
    if (p[0] == dynamic || p[1] == dynamic) return 0;
    return min(p[0], p[1]);
  }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t, const index_t* low_run, index_t* up_run) {
    up_run[0] = detail::gcd_of_known(detail::gcd_of_known(low_run[0], p[0]), p[1]);
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t) {
    return detail::is_power_of_two(p[0]);  // `dynamic` is none
  }
};

/// lower = upper % modulus, for upper indices below length. Vectors pass as far as their length divides both.
template <class Modulus, class Length>
TILEWRIGHT_HD constexpr auto make_modulo_transform(Modulus modulus, Length length) {
  static_assert(detail::IndexLike<Modulus>, "modulo: the modulus must be number<N>{} or an integer");
  static_assert(detail::static_value_v<Modulus> == dynamic || detail::static_value_v<Modulus> >= 1,
                "modulo: the modulus must be positive");
  detail::require_lengths<Length>();
  return detail::make_transform<transform_kind::modulo, 1, 1>(modulus, length);
}

}  // namespace tilewright
