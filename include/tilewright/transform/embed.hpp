// SPDX-License-Identifier: MIT
// Strides: one lower dimension from several upper ones.
#pragma once

#include <tilewright/transform/transform.hpp>

namespace tilewright {

/// Parameters: the n upper lengths, the n strides, and a promise: every run-time stride and length is a multiple of it.
/// lower = sum of upper i * stride i.
template <>
struct transform_rules<transform_kind::embed> {
  static constexpr bool linear = true;

  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t n, const index_t* up, index_t* low) {
    unsigned sum = 0;  // unsigned, because below a pad an index may be anything
    for (index_t i = 0; i < n; ++i) sum += unsigned(up[i]) * unsigned(p[n + i]);
    low[0] = index_t(sum);
  }
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t, index_t i) { return p[i]; }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t*, index_t, index_t) { return -1; }
  TILEWRIGHT_HD static constexpr bool is_valid(const index_t*, const index_t*) { return true; }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t n, const index_t* low_run, index_t* up_run) {
    const index_t promise = p[2 * n];
    for (index_t i = 0; i < n; ++i) {
      up_run[i] = 1;
      if (p[n + i] != 1) continue;
      index_t r = gcd(low_run[0], p[i] == dynamic ? promise : p[i]);
      for (index_t j = 0; j < n; ++j) {
        if (j != i && p[j] != 1) r = gcd(r, p[n + j] == dynamic ? promise : p[n + j]);
      }
      up_run[i] = r;
    }
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t n) {
    index_t used = 0;
    for (index_t i = 0; i < n; ++i) {
      if (p[i] == 1) continue;
      if (p[i] == dynamic || p[n + i] == dynamic || !is_power_of_two(p[i]) || !is_power_of_two(p[n + i])) return false;
      const index_t mask = (p[i] - 1) * p[n + i];
      if (used & mask) return false;
      used |= mask;
    }
    return true;
  }
};

/// lower = sum of upper i * stride i. Promise: every length and stride that is known only at run time is a multiple of it
/// (and the tensor begins at an address that is a multiple of it); it decides how wide vectors may be.
template <class... Lengths, class... Strides, class Promise = number<1>>
TILEWRIGHT_HD constexpr auto make_embed_transform(const tuple<Lengths...>& lengths, const tuple<Strides...>& strides,
                                                  Promise promise = {}) {
  static_assert(sizeof...(Lengths) == sizeof...(Strides), "embed: as many strides as lengths are needed");
  static_assert(Promise::value >= 1, "embed: the promised divisor must be positive");
  constexpr index_t n = sizeof...(Lengths);
  return apply([&](auto... l) {
    return apply([&](auto... s) { return detail::make_transform<transform_kind::embed, 1, n>(l..., s..., promise); }, strides);
  }, lengths);
}

}  // namespace tilewright
