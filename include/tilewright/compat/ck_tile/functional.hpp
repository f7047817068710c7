// SPDX-License-Identifier: MIT
// CK Tile's compile-time loops over several dimensions, and functions that build lists.
#pragma once

#include <tilewright/core/base/sequence.hpp>
#include <tilewright/core/base/tuple.hpp>
#include <tilewright/core/distribution/space_filling_curve.hpp>

namespace tilewright {

/// CK Tile's spelling: static_for<Begin, End, Step>{}(f) calls f(number<i>{}) for i = Begin, Begin + Step, ... < End.
template <index_t Begin, index_t End, index_t Step = 1>
struct static_for {
  static_assert(Step > 0, "static_for: the step must be positive");
  /// f(number<i>{}) for each i, in order.
  template <class F>
  TILEWRIGHT_HD constexpr void operator()(F&& f) const {
    unroll<(End - Begin + Step - 1) / Step>([&](auto i) { f(number<Begin + i.value * Step>{}); });
  }
};

namespace detail {

/// A loop over groups of neighbours, and one over the members of a group, in the same order of dimensions.
template <index_t N>
struct static_traversal {
  curve<N> groups, members;

  TILEWRIGHT_HD constexpr static_traversal(const multi_index<N>& lengths, const multi_index<N>& order,
                                           const multi_index<N>& unpacks)
      : groups{lengths, order, unpacks}, members{unpacks, order, unpacks} {
    for (index_t d = 0; d < N; ++d) members.scalars_per_access[d] = 1;
  }
  TILEWRIGHT_HD constexpr bool is_sound() const {
    array<bool, N> seen{};
    for (index_t d = 0; d < N; ++d) {
      const index_t next = groups.order[d], length = groups.lengths[d], unpacks = members.lengths[d];
      if (next < 0 || next >= N || seen[next] || length < 0 || unpacks < 1 || length % unpacks != 0) return false;
      seen[next] = true;
    }
    return true;
  }
  TILEWRIGHT_HD constexpr multi_index<N> at(index_t group, index_t member) const {
    multi_index<N> index = groups.get_index(group);
    const multi_index<N> in_group = members.get_index(member);
    for (index_t d = 0; d < N; ++d) index[d] += in_group[d];
    return index;
  }
};

template <index_t... Is>
TILEWRIGHT_HD constexpr sequence<(Is < 0 ? 0 : 1)...> ones(sequence<Is...>) {
  return {};
}
template <class Lengths>
using ones_for = decltype(ones(make_sequence<Lengths::size()>{}));

template <auto Values, index_t... Is>
TILEWRIGHT_HD constexpr sequence<Values[Is]...> sequence_of(sequence<Is...>) {
  return {};
}

template <class Traversal, index_t Group, class F, index_t... Ms>
TILEWRIGHT_HD constexpr void call_with_group(F& f, sequence<Ms...>) {
  f(sequence_of<Traversal::value.at(Group, Ms)>(make_sequence<Traversal::value.groups.lengths.size()>{})...);
}

}  // namespace detail

/// The values of a compile-time array as a sequence: to_sequence<array<index_t, 2>{{3, 4}}>() is sequence<3, 4>{}.
template <auto Values>
TILEWRIGHT_HD constexpr auto to_sequence() {
  return detail::sequence_of<Values>(make_sequence<Values.size()>{});
}

/// f(sequence<i0, i1, ...>{}, ...) for groups of neighbours, Unpacks of them along each dimension, as several
/// arguments.
template <class Lengths, class Unpacks = detail::ones_for<Lengths>, class Order = make_sequence<Lengths::size()>>
struct static_uford {
  static_assert(Unpacks::size() == Lengths::size() && Order::size() == Lengths::size(),
                "static_uford: one number of unpacks and one entry of the order are needed for each length");
  /// f(index) for each index, in the order of the sequence.
  TILEWRIGHT_CALLS_ANYTHING
  template <class F>
  TILEWRIGHT_HD constexpr void operator()(F&& f) const {
    using traversal =
        number<detail::static_traversal<Lengths::size()>(Lengths::values, Order::values, Unpacks::values)>;
    static_assert(traversal::value.is_sound(),
                  "static_uford: the order must be a permutation of the dimensions, and each number of unpacks must "
                  "divide its length");
    if constexpr (traversal::value.is_sound()) {
      unroll<traversal::value.groups.get_num_of_access()>([&](auto group) TILEWRIGHT_INLINE_LAMBDA {
        detail::call_with_group<traversal, group.value>(f,
                                                        make_sequence<traversal::value.members.get_num_of_access()>{});
      });
    }
  }
};

/// f(sequence<i0, i1, ...>{}) for each index below the lengths; dimension Order[0] moves slowest.
template <class Lengths, class Order = make_sequence<Lengths::size()>>
struct static_ford : static_uford<Lengths, detail::ones_for<Lengths>, Order> {};

/// f(number<0>{}), ..., f(number<N - 1>{}) as a tuple.
TILEWRIGHT_CALLS_ANYTHING
template <index_t N, class F>
TILEWRIGHT_HD constexpr auto generate_tuple(F&& f, number<N>) {
  return [&]<index_t... Is>(sequence<Is...>)
             TILEWRIGHT_INLINE_LAMBDA { return make_tuple(f(number<Is>{})...); }(make_sequence<N>{});
}

/// Concatenates tuples, arrays of one type, or sequences.
template <class... As, class... Bs>
TILEWRIGHT_HD constexpr auto container_concat(const tuple<As...>& a, const tuple<Bs...>& b) {
  return [&]<index_t... Is, index_t... Js>(sequence<Is...>, sequence<Js...>) TILEWRIGHT_INLINE_LAMBDA {
    return make_tuple(a.template get<Is>()..., b.template get<Js>()...);
  }(make_sequence<sizeof...(As)>{}, make_sequence<sizeof...(Bs)>{});
}
/// The elements of both, in order.
template <class T, index_t N, index_t M>
TILEWRIGHT_HD constexpr array<T, N + M> container_concat(const array<T, N>& a, const array<T, M>& b) {
  array<T, N + M> result{};
  for (index_t i = 0; i < N; ++i) result[i] = a[i];
  for (index_t i = 0; i < M; ++i) result[N + i] = b[i];
  return result;
}
/// The elements of both, in order.
template <index_t... As, index_t... Bs>
TILEWRIGHT_HD constexpr sequence<As..., Bs...> container_concat(sequence<As...>, sequence<Bs...>) {
  return {};
}
/// The elements of all, in order.
template <class A, class B, class... Others>
  requires(sizeof...(Others) > 0)
TILEWRIGHT_HD constexpr auto container_concat(const A& a, const B& b, const Others&... others) {
  return container_concat(container_concat(a, b), others...);
}

}  // namespace tilewright
