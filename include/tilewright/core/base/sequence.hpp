// SPDX-License-Identifier: MIT
// Compile-time lists of integers, and the one place where a pack is expanded into a loop.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/type_traits.hpp>

namespace tilewright {

/// A compile-time list of integers, for interfaces that CK Tile spells with types.
template <index_t... Values>
struct sequence {
  /// in order
  static constexpr array<index_t, sizeof...(Values)> values{Values...};

  /// How many there are.
  TILEWRIGHT_HD static constexpr index_t size() { return sizeof...(Values); }
  /// Value i; 0 <= i < size() is not checked.
  TILEWRIGHT_HD constexpr index_t operator[](index_t i) const { return values[i]; }
};

namespace detail {
#if defined(__clang__)
template <class, index_t... Values>
using made_sequence = sequence<Values...>;
#elif defined(__CUDACC_RTC__)
template <class Half>
struct doubled;
template <index_t... Is>
struct doubled<sequence<Is...>> {
  using even = sequence<Is..., index_t(sizeof...(Is)) + Is...>;
  using odd = sequence<Is..., index_t(sizeof...(Is)) + Is..., 2 * index_t(sizeof...(Is))>;
};
template <index_t N>
struct made_sequence {
  using type = conditional_t<N % 2 == 0, typename doubled<typename made_sequence<N / 2>::type>::even,
                             typename doubled<typename made_sequence<N / 2>::type>::odd>;
};
template <>
struct made_sequence<0> {
  using type = sequence<>;
};
#endif
}  // namespace detail

/// sequence<0, 1, ... N - 1>. Compilers make it themselves; the standard's header takes them longer than most of ours.
#if defined(__clang__)
template <index_t N>
using make_sequence = __make_integer_seq<detail::made_sequence, index_t, N>;
#elif defined(__CUDACC_RTC__)
template <index_t N>
using make_sequence = typename detail::made_sequence<N>::type;
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

}  // namespace tilewright
