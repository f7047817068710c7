// SPDX-License-Identifier: MIT
// The functor transform: a user's function computes the lower index.
#pragma once

#include <tilewright/core/transform/transform.hpp>

namespace tilewright {

/// Parameters: lower length, upper length, the guaranteed run, then the function's run-time values. lower =
/// function(upper, values); where that is not an index of the lower dimension there is no element.
template <>
struct detail::transform_rules<transform_kind::functor> : detail::default_rules {
  static constexpr bool may_be_invalid = true;
  static constexpr index_t first_value = 3;  ///< where the function's values begin among the parameters

  detail::index_function function;  ///< what computes the lower index

  /// low[0] = function(up[0], values); -1 outside of the upper length.
  TILEWRIGHT_HD constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) const {
    low[0] = unsigned(up[0]) < unsigned(p[1]) ? function(up[0], p + first_value) : -1;
  }
  TILEWRIGHT_HD constexpr bool is_valid(const index_t* p, index_t n, const index_t* up) const {
    index_t low = 0;
    lower(p, n, up, &low);
    return unsigned(low) < unsigned(p[0]);
  }
  static constexpr bool upper_lengths_are_parameters = false;
  /// The length given by the user.
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t, index_t) { return p[1]; }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t) { return p[0]; }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t, const index_t* low_run, index_t* up_run) {
    up_run[0] = detail::gcd(low_run[0], p[2]);
    if (p[1] != dynamic) up_run[0] = detail::gcd(up_run[0], p[1]);
  }
  TILEWRIGHT_HD static constexpr bool has_constant_term(const index_t*, index_t) { return true; }
};

namespace detail {

/// F as a plain function, and a variable that points to it: g++ 12 takes no pointer to a
/// function into a template argument's members.
template <class F, class Places>
struct functor_call;
template <class F, index_t... Is>
struct functor_call<F, sequence<Is...>> {
  TILEWRIGHT_CALLS_ANYTHING TILEWRIGHT_HD static constexpr index_t call(index_t upper,
                                                                        [[maybe_unused]] const index_t* values) {
    return index_t(F{}(upper, values[Is]...));
  }
  static constexpr index_function function = &call;
};

// A class, not an alias: nvcc would replace an alias by index_t and lose the pack.
template <class F, index_t>
struct value_of {
  using type = index_t;
};

template <class F, class Indices>
inline constexpr bool is_index_function_v = false;
template <class F, index_t... Is>
inline constexpr bool is_index_function_v<F, sequence<Is...>> =
    requires(F f, index_t upper, typename value_of<F, Is>::type... values) {
      { f(upper, values...) } -> ConvertibleTo<index_t>;
    };

}  // namespace detail

/// lower = f(upper, values...), for upper indices below upper_length. f is called only with such indices; where it
/// returns no index of the lower dimension (-1, say), there is no element. f is a lambda without captures or an empty
/// class whose call operator is constexpr and, for kernels, TILEWRIGHT_HD; what it needs at run time are `values`, a
/// tuple of integers. Run, number<R>: a guarantee that f maps R consecutive indices that begin at a multiple of R to R
/// consecutive ones that begin at a multiple of R, or all of them to nothing,
/// and that run-time lengths are multiples of it. Vectors as long as R pass.
template <class F, class LowerLength, class UpperLength, class... Values, class Run = number<1>>
TILEWRIGHT_HD constexpr auto make_functor_transform(F, LowerLength lower_length, UpperLength upper_length,
                                                    const tuple<Values...>& values = {}, Run run = {}) {
  detail::require_lengths<LowerLength, UpperLength>();
  static_assert(__is_empty(F) && __is_constructible(F),
                "functor: a function without captures is needed; hand over run-time values as the tuple of values");
  static_assert(
      detail::is_index_function_v<F, make_sequence<sizeof...(Values)>>,
      "functor: the function must take the upper index and one index_t for each value, and return the lower index");
  static_assert(detail::is_number_v<Run> && Run::value >= 1,
                "functor: the guaranteed run must be a positive number<R>");
  return apply(
      [&](auto... v) {
        using call = detail::functor_call<F, make_sequence<sizeof...(Values)>>;
        return detail::make_transform<transform_kind::functor, 1, 1, &call::function>(lower_length, upper_length, run,
                                                                                      v...);
      },
      values);
}

/// A map of a dimension to itself.
template <class F, class Length>
TILEWRIGHT_HD constexpr auto make_functor_transform(F f, Length length) {
  return make_functor_transform(f, length, length);
}

}  // namespace tilewright
