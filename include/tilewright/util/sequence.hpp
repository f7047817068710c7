// SPDX-License-Identifier: MIT
// Compile-time lists of integers, and the one place where a pack is expanded into a loop.
#pragma once

#include <tilewright/util/array.hpp>

namespace tilewright {

/// A compile-time list of integers, for interfaces that CK Tile spells with types.
template <index_t... Values>
struct sequence {
  static constexpr array<index_t, sizeof...(Values)> values{Values...};

  TILEWRIGHT_HD static constexpr index_t size() { return sizeof...(Values); }
  TILEWRIGHT_HD constexpr index_t operator[](index_t i) const { return values[i]; }
};

#if defined(__clang__)
namespace detail {
template <class, index_t... Values>
using made_sequence = sequence<Values...>;
}
#endif

/// sequence<0, 1, ... N - 1>. Compilers make it themselves; the standard's header takes them longer than most of ours.
#if defined(__clang__)
template <index_t N>
using make_sequence = __make_integer_seq<detail::made_sequence, index_t, N>;
#else
template <index_t N>
using make_sequence = sequence<__integer_pack(N)...>;
#endif

namespace detail {
template <class F, index_t... Is>
TILEWRIGHT_HD constexpr void unroll_each(F& f, sequence<Is...>) {
  TILEWRIGHT_INLINE_CALLS(f(number<Is>{}), ...);
}
}  // namespace detail

/// Calls f(number<0>{}), ..., f(number<N - 1>{}), so that each call sees its index as a constant.
template <index_t N, class F>
TILEWRIGHT_HD constexpr void unroll(F&& f) {
  if constexpr (N > 0) detail::unroll_each(f, make_sequence<N>{});
}

/// CK Tile's spelling: static_for<Begin, End, Step>{}(f) calls f(number<i>{}) for i = Begin, Begin + Step, ... < End.
template <index_t Begin, index_t End, index_t Step = 1>
struct static_for {
  static_assert(Step > 0, "static_for: the step must be positive");
  template <class F>
  TILEWRIGHT_HD constexpr void operator()(F&& f) const {
    unroll<(End - Begin + Step - 1) / Step>([&](auto i) { f(number<Begin + i.value * Step>{}); });
  }
};

}  // namespace tilewright
