// SPDX-License-Identifier: MIT
// A tuple; device code cannot call std::tuple's functions without extra flags.
#pragma once

#include <tilewright/core/base/sequence.hpp>

namespace tilewright {

namespace detail {
template <index_t Nth, class T>
struct tuple_leaf {
  [[no_unique_address]] T value;
};

template <class Indices, class... Ts>
struct tuple_base;
template <index_t... Is, class... Ts>
struct tuple_base<sequence<Is...>, Ts...> : tuple_leaf<Is, Ts>... {};

template <index_t Nth, class T>
TILEWRIGHT_HD constexpr T& get_leaf(tuple_leaf<Nth, T>& leaf) {
  return leaf.value;
}
template <index_t Nth, class T>
TILEWRIGHT_HD constexpr const T& get_leaf(const tuple_leaf<Nth, T>& leaf) {
  return leaf.value;
}

TILEWRIGHT_CALLS_ANYTHING
template <class F, class Tuple, index_t... Is>
TILEWRIGHT_HD constexpr decltype(auto) apply_leaves(F&& f, const Tuple& t, sequence<Is...>) {
  return f(t.template get<Is>()...);
}

/// Elements whose types say everything: number<>, sequence<>, transforms without run-time parameters.
template <class... Ts>
concept Stateless = sizeof...(Ts) > 0 && (__is_empty(Ts) && ...) && (__is_trivially_constructible(Ts) && ...);
}  // namespace detail

/// Values of different types, by value: get<1>(t) and t[number<1>{}] are element 1. An aggregate.
template <class... Ts>
struct tuple : detail::tuple_base<make_sequence<sizeof...(Ts)>, Ts...> {
  /// How many elements it has.
  TILEWRIGHT_HD static constexpr index_t size() { return sizeof...(Ts); }

  /// Element Nth, from 0.
  template <index_t Nth>
  TILEWRIGHT_HD constexpr auto& get() {
    static_assert(0 <= Nth && Nth < index_t(sizeof...(Ts)), "tuple: the index is past the end");
    return detail::get_leaf<Nth>(*this);
  }
  template <index_t Nth>
  TILEWRIGHT_HD constexpr const auto& get() const {
    static_assert(0 <= Nth && Nth < index_t(sizeof...(Ts)), "tuple: the index is past the end");
    return detail::get_leaf<Nth>(*this);
  }
  /// Element Nth, from 0, as in t[number<0>{}].
  template <auto Nth>
  TILEWRIGHT_HD constexpr auto& operator[](number<Nth>) {
    return get<Nth>();
  }
  template <auto Nth>
  TILEWRIGHT_HD constexpr const auto& operator[](number<Nth>) const {
    return get<Nth>();
  }
};

/// Elements without state need no storage: `get` makes an element when it is called.
template <class... Ts>
  requires detail::Stateless<Ts...>
struct tuple<Ts...> {
  constexpr tuple() = default;
  /// Of constants alone: has no state.
  TILEWRIGHT_HD constexpr tuple(Ts...) {}
  /// How many elements it has.
  TILEWRIGHT_HD static constexpr index_t size() { return sizeof...(Ts); }

  /// Element Nth, from 0.
  template <index_t Nth>
  TILEWRIGHT_HD static constexpr auto get() {
    static_assert(0 <= Nth && Nth < index_t(sizeof...(Ts)), "tuple: the index is past the end");
    return detail::get_leaf<Nth>(detail::tuple_base<make_sequence<sizeof...(Ts)>, Ts...>{});
  }
  /// Element Nth, from 0.
  template <auto Nth>
  TILEWRIGHT_HD constexpr auto operator[](number<Nth>) const {
    return get<Nth>();
  }
};

template <>
struct tuple<> {
  /// 0.
  TILEWRIGHT_HD static constexpr index_t size() { return 0; }
};

/// The types of the elements are those of the arguments.
template <class... Ts>
tuple(Ts...) -> tuple<Ts...>;

/// A tuple of copies of the values.
template <class... Ts>
TILEWRIGHT_HD constexpr tuple<Ts...> make_tuple(Ts... values) {
  if constexpr (sizeof...(Ts) == 0 || detail::Stateless<Ts...>) {
    return {};
  } else {
    return {{{values}...}};
  }
}

/// Element Nth of a tuple, or part Nth of an index: values[number<Nth>{}], get<Nth>(values).
template <index_t Nth, class T>
  requires requires(T& values) { values.template get<Nth>(); }
TILEWRIGHT_HD constexpr decltype(auto) get(T& values) {
  return values.template get<Nth>();
}

/// f(element 0, element 1, ...).
TILEWRIGHT_CALLS_ANYTHING
template <class F, class... Ts>
TILEWRIGHT_HD constexpr decltype(auto) apply(F&& f, const tuple<Ts...>& t) {
  return detail::apply_leaves(f, t, make_sequence<sizeof...(Ts)>{});
}

}  // namespace tilewright
