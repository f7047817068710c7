// SPDX-License-Identifier: MIT
// The indexing transform: lower indices from a short table, to gather rows, experts or pages.
#pragma once

#include <tilewright/core/transform/transform.hpp>

namespace tilewright {

/// Parameters: how many indices, then the indices. lower = index number `upper`.
/// A negative one says that there is no element.
template <>
struct detail::transform_rules<transform_kind::indexing> : detail::default_rules {
  static constexpr bool may_be_invalid = true;

  /// low[0] = index number up[0]; -1 if there is none.
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = -1;  // compared with every place, because a table indexed at run time would not live in registers
    for (index_t i = 0; i < p[0]; ++i) low[0] = up[0] == i ? p[1 + i] : low[0];
  }
  TILEWRIGHT_HD static constexpr bool is_valid(const index_t* p, index_t n, const index_t* up) {
    index_t low = 0;
    lower(p, n, up, &low);
    return low >= 0;
  }
  TILEWRIGHT_HD static constexpr long_index_t least_lower_length(const index_t* p, index_t, index_t) {
    index_t last = -1;
    for (index_t i = 0; i < p[0]; ++i) last = max(last, p[1 + i]);  // `dynamic` is negative
    return long_index_t{last} + 1;
  }
  TILEWRIGHT_HD static constexpr void run(const index_t*, index_t, const index_t*, index_t* up_run) { up_run[0] = 1; }
  TILEWRIGHT_HD static constexpr bool has_constant_term(const index_t*, index_t) { return true; }
};

/// lower = indices[upper], for up to 15 indices, each number<N> or an integer; upper_length is their number. A negative
/// index says that there is no element. No vectors. A longer table in constant memory is a make_functor_transform.
template <class Length, class... Indices>
TILEWRIGHT_HD constexpr auto make_indexing_transform(Length upper_length, const tuple<Indices...>& indices) {
  static_assert(detail::is_number_v<Length>, "indexing: the length must be known at compile time: number<4>{}");
  static_assert(detail::static_value_v<Length> == sizeof...(Indices),
                "indexing: as many indices as the length says are needed");
  static_assert(sizeof...(Indices) < transform_spec::max_parameters,
                "indexing: at most 15 indices; look up more of them in a make_functor_transform");
  static_assert((detail::IndexLike<Indices> && ...), "indexing: an index must be number<N>{} or an integer");
  return apply([&](auto... i) { return detail::make_transform<transform_kind::indexing, 1, 1>(upper_length, i...); },
               indices);
}

/// make_indexing_transform with indices that are known only at run time.
template <class Length, index_t N>
TILEWRIGHT_HD constexpr auto make_indexing_transform(Length upper_length, const multi_index<N>& indices) {
  return [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
    return make_indexing_transform(upper_length, make_tuple(indices[Is]...));
  }(make_sequence<N>{});
}

}  // namespace tilewright
