// SPDX-License-Identifier: MIT
// The embed transform: one lower index from several upper ones and their strides.
#pragma once

#include <tilewright/core/transform/transform.hpp>

namespace tilewright {

/// Parameters: the n upper lengths, the n strides, the constant, and the guaranteed divisor (0: nothing is guaranteed).
/// lower = constant + sum of upper i * stride i.
template <>
struct detail::transform_rules<transform_kind::embed> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::strides;

  /// low[0] = constant + sum of up[i] stride i.
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t n, const index_t* up, index_t* low) {
    unsigned sum = unsigned(p[2 * n]);  // unsigned, because below a pad an index may be anything
    for (index_t i = 0; i < n; ++i) sum += unsigned(up[i]) * unsigned(p[n + i]);
    low[0] = index_t(sum);
  }
  TILEWRIGHT_HD static constexpr long_index_t least_lower_length(const index_t* p, index_t n, index_t) {
    return furthest(p, n, 1) + 1;
  }
  TILEWRIGHT_HD static constexpr bool fits(const index_t* p, index_t n) {
    return furthest(p, n, 1) <= detail::largest_index && furthest(p, n, -1) <= detail::largest_index + 1;
  }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t n, const index_t* low_run, index_t* up_run) {
    const index_t guarantee = p[2 * n + 1];
    const auto known = [&](index_t value) { return value == dynamic ? max(index_t(guarantee), 1) : value; };
    for (index_t i = 0; i < n; ++i) {
      up_run[i] = 1;
      if (p[n + i] != 1) continue;
      index_t r = detail::gcd(detail::gcd(low_run[0], known(p[i])), known(p[2 * n]));
      for (index_t j = 0; j < n; ++j) {
        if (j != i && p[j] != 1) r = detail::gcd(r, known(p[n + j]));
      }
      up_run[i] = detail::gcd(r, guarantee);
    }
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t n) {
    if (p[2 * n] != 0) return false;
    index_t used = 0;
    for (index_t i = 0; i < n; ++i) {
      if (p[i] == 1) continue;
      if (p[i] == dynamic || p[n + i] == dynamic || !detail::is_power_of_two(p[i]) ||
          !detail::is_power_of_two(p[n + i]))
        return false;
      const index_t mask = (p[i] - 1) * p[n + i];
      if (used & mask) return false;
      used |= mask;
    }
    return true;
  }
  TILEWRIGHT_HD static constexpr bool has_constant_term(const index_t* p, index_t n) { return p[2 * n] != 0; }

 private:
  /// The largest lower index (sign 1), or what the smallest is below zero (sign -1); -1 where that is not known. Far
  /// above largest_index it is not exact.
  TILEWRIGHT_HD static constexpr long_index_t furthest(const index_t* p, index_t n, index_t sign) {
    if (p[2 * n] == dynamic) return -1;
    long_index_t last = long_index_t(sign) * p[2 * n];
    for (index_t i = 0; i < n && last <= detail::largest_index + 1; ++i) {
      if (p[i] == dynamic || p[n + i] == dynamic) return -1;
      const long_index_t stride = long_index_t(sign) * p[n + i];
      if (stride > 0) last += (long_index_t(p[i]) - 1) * stride;
    }
    return last;
  }
};

/// lower = constant + sum of upper i * stride i. A vector along a dimension of stride 1 divides its length, all other
/// strides and the constant. Guarantee, number<P>: P divides those of them that are known only at run time, and the
/// address of element zero in elements; no vector is longer than P. Without a guarantee, run-time values allow no
/// vector, static ones allow what they divide by.
template <class... Lengths, class... Strides, class Guarantee = number<0>, class Constant = number<0>>
TILEWRIGHT_HD constexpr auto make_embed_transform(const tuple<Lengths...>& lengths, const tuple<Strides...>& strides,
                                                  Guarantee guarantee = {}, Constant constant = {}) {
  static_assert(sizeof...(Lengths) == sizeof...(Strides), "embed: as many strides as lengths are needed");
  static_assert(detail::is_number_v<Guarantee>,
                "embed: the guaranteed divisor must be known at compile time: number<8>{}");
  static_assert(Guarantee::value >= 0, "embed: the guaranteed divisor must be positive");
  static_assert((detail::IndexLike<Strides> && ...) && detail::IndexLike<Constant>,
                "embed: a stride must be number<N>{} or an integer");
  constexpr index_t n = sizeof...(Lengths);
  if constexpr (detail::KnownLengths<Lengths...> &&
                (detail::is_number_v<Strides> && ... && detail::is_number_v<Constant>)) {
    return detail::static_transform<transform_kind::embed, 1, n, Lengths..., Strides..., Constant, Guarantee>{};
  } else {
    detail::require_lengths<Lengths...>();
    return [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
      return detail::make_transform<transform_kind::embed, 1, n>(lengths.template get<Is>()...,
                                                                 strides.template get<Is>()..., constant, guarantee);
    }(make_sequence<n>{});
  }
}

}  // namespace tilewright
