// SPDX-License-Identifier: MIT
// A coordinate transform as a value: its kind and its parameters, of which some are known only at run time.
#pragma once

#include <tilewright/util/math.hpp>
#include <tilewright/util/sequence.hpp>
#include <tilewright/util/tuple.hpp>

namespace tilewright {

/// "Upper" is what the user indexes, "lower" is the side towards memory.
enum class transform_kind : signed char { pass_through, pad, embed, merge, unmerge, xor_modulo, swizzle, offset, freeze };

/// The static part of a transform. Parameters known only at run time read `dynamic`; their values travel beside it.
struct transform_spec {
  static constexpr index_t max_parameters = 16;
  static constexpr index_t max_dims = 8;  // on either side

  transform_kind kind = transform_kind::pass_through;
  signed char num_lower = 0;
  signed char num_upper = 0;
  inplace_vector<index_t, max_parameters> parameters;

  TILEWRIGHT_HD constexpr index_t num_dynamic() const {
    index_t n = 0;
    for (index_t i = 0; i < parameters.size(); ++i) n += parameters[i] == dynamic;
    return n;
  }
  friend constexpr bool operator==(const transform_spec&, const transform_spec&) = default;
};

/// The transform's parameters in order, with run-time values filled in.
using transform_parameters = array<index_t, transform_spec::max_parameters>;

/// What each kind of transform does. Specialisations provide, for parameters p:
///   lower(p, n, up, low)       the lower index of an upper index; n is the number of dimensions on the side that varies
///   upper_length(p, n, i)      length of upper dimension i, `dynamic` when it depends on such a parameter
///   lower_length(p, n, i)      length of lower dimension i, or -1 when any length fits
///   is_valid(p, up)            whether the element exists (pads say no outside of the original tensor)
///   run(p, n, low_run, up_run) aligned contiguous run of each upper dimension, given those of the lower ones; see contiguous_runs
///   linear                     the offset is a linear function of the upper index with coefficients that do not depend on it
///   f2_linear(p, n)            the map is linear over the bits of the index (xor in place of addition)
template <transform_kind Kind>
struct transform_rules;

/// A transform with the values of its run-time parameters.
template <transform_spec Spec>
struct coordinate_transform {
  static constexpr transform_spec spec = Spec;
  array<index_t, Spec.num_dynamic()> values;
};

namespace detail {

template <class T>
inline constexpr index_t static_value_v = dynamic;
template <auto V>
inline constexpr index_t static_value_v<number<V>> = V;

template <class T>
TILEWRIGHT_HD constexpr void append_if_dynamic(index_t*& end, const T& value) {
  if constexpr (!is_number_v<T>) *end++ = index_t(value);
}

template <class... Ts>
TILEWRIGHT_HD constexpr transform_spec make_spec(transform_kind kind, index_t num_lower, index_t num_upper) {
  transform_spec spec{kind, static_cast<signed char>(num_lower), static_cast<signed char>(num_upper), {}};
  (spec.parameters.push_back(static_value_v<Ts>), ...);
  return spec;
}

/// The transform whose parameters are the given numbers (static) and integers (dynamic).
template <transform_kind Kind, index_t NumLower, index_t NumUpper, class... Ts>
TILEWRIGHT_HD constexpr auto make_transform(Ts... parameters) {
  static_assert(NumLower <= transform_spec::max_dims && NumUpper <= transform_spec::max_dims &&
                    sizeof...(Ts) <= transform_spec::max_parameters,
                "transform: too many dimensions; split it in two");
  coordinate_transform<make_spec<Ts...>(Kind, NumLower, NumUpper)> result{};
  [[maybe_unused]] index_t* end = result.values.data();
  (append_if_dynamic(end, parameters), ...);
  return result;
}

/// a * b where either may be `dynamic`.
TILEWRIGHT_HD constexpr index_t multiply(index_t a, index_t b) {
  return a == dynamic || b == dynamic ? dynamic : a * b;
}

/// The run that a length leaves: unknown lengths leave 1, because nothing is promised about their divisors.
TILEWRIGHT_HD constexpr index_t gcd_of_known(index_t run, index_t length) {
  return length == dynamic ? 1 : gcd(run, length);
}

}  // namespace detail
}  // namespace tilewright
