// SPDX-License-Identifier: MIT
// A coordinate transform as a value: its kind and its parameters, of which some are known only at run time.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/tuple.hpp>
#include <tilewright/core/base/type_traits.hpp>

namespace tilewright {

/// "Upper" is what the user indexes, "lower" is the side towards memory.
enum class transform_kind : signed char {
  pass_through,
  pad,
  embed,
  merge,
  merge_magic,
  unmerge,
  xor_modulo,
  swizzle,
  cyclic_shift,
  offset,
  slice,
  modulo,
  freeze,
  replicate,
  indexing,
  functor
};

namespace detail {

/// A user's map from an upper index to a lower one; `state` are run-time values that came with it.
using index_function = index_t (*)(index_t upper, const index_t* state);

}  // namespace detail

/// The static part of a transform. Parameters known only at run time are `dynamic`; coordinate_transform has their
/// values.
struct transform_spec {
  static constexpr index_t max_parameters = 16;  ///< of a transform
  static constexpr index_t max_dims = 8;         ///< on either side

  transform_kind kind = transform_kind::pass_through;  ///< which one
  signed char num_lower = 0;                           ///< lower dimensions
  signed char num_upper = 0;                           ///< upper dimensions
  inplace_vector<index_t, max_parameters> parameters;  ///< `dynamic` for those that are known at run time
  const detail::index_function* function = nullptr;    ///< of a functor

  /// Parameters that are known at run time.
  TILEWRIGHT_HD constexpr index_t num_dynamic() const {
    index_t n = 0;
    for (index_t i = 0; i < parameters.size(); ++i) n += parameters[i] == dynamic;
    return n;
  }
  friend constexpr bool operator==(const transform_spec&, const transform_spec&) = default;
};

namespace detail {

/// What each kind of transform does, for parameters p; n is the number of dimensions on the side that varies.
/// Specialisations provide the first, and what they do otherwise than default_rules.
template <transform_kind Kind>
struct transform_rules;

/// The transform's parameters in order, with run-time values filled in.
using transform_parameters = array<index_t, transform_spec::max_parameters>;

/// How the one lower index, if there is one, grows with upper index i; n: number of upper indices.
enum class linear_rule : signed char {
  none,       // not by a constant
  unit,       // by 1
  strides,    // by parameter n + i
  row_major,  // by the product of parameters i + 1 to n - 1
};

/// What transforms say that do not say otherwise.
struct default_rules {
  //   lower(p, n, up, low)       the lower index of an upper index. An index that does not exist, because it is outside
  //                              of the length or in a pad, gets any lower index, but in a constant expression, too

  /// Length of upper dimension i, `dynamic` when it depends on such a parameter.
  static constexpr bool upper_lengths_are_parameters = true;
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t, index_t i) { return p[i]; }

  /// Whether and how the lower index is a linear function of the upper one. Windows and moves rely on it.
  static constexpr linear_rule linear = linear_rule::none;

  /// Whether all upper lengths are at most 2^31 - 1.
  TILEWRIGHT_HD static constexpr bool fits(const index_t*, index_t) { return true; }

  /// Whether is_valid can say no inside of the upper lengths.
  static constexpr bool may_be_invalid = false;

  /// Whether the element exists; asked of upper indices inside of the upper lengths.
  TILEWRIGHT_HD static constexpr bool is_valid(const index_t*, index_t, const index_t*) { return true; }

  /// Length of lower dimension i, or -1 when others fit.
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t*, index_t, index_t) { return -1; }

  /// How long lower dimension i must be at least, as far as static parameters determine it;
  /// for those that have no lower_length.
  TILEWRIGHT_HD static constexpr long_index_t least_lower_length(const index_t*, index_t, index_t) { return 0; }

  /// Aligned contiguous run of each upper dimension, given those of the lower ones; see contiguous_runs.
  TILEWRIGHT_HD static constexpr void run(const index_t*, index_t, const index_t*, index_t*) {}

  /// The map is linear over the bits of the index (xor instead of addition).
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t*, index_t) { return false; }

  /// Whether upper index zero may have a lower index other than zero.
  TILEWRIGHT_HD static constexpr bool has_constant_term(const index_t*, index_t) { return false; }
};

/// A transform with the values of its run-time parameters.
template <transform_spec Spec>
struct coordinate_transform {
  static constexpr transform_spec spec = Spec;
  [[no_unique_address]] array<index_t, Spec.num_dynamic()> values;
};

template <class T>
inline constexpr index_t static_value_v = dynamic;
template <auto V>
inline constexpr index_t static_value_v<number<V>>{V};  // braces refuse what 32 bits cannot hold

/// A length, stride or index given to a factory: number<N> or an integer, of which 32 bits are kept.
template <class T>
concept IndexLike = is_number_v<T> || (ConvertibleTo<T, index_t> && Integral<T>);

template <class T>
TILEWRIGHT_HD constexpr void append_if_dynamic(index_t*& end, const T& value) {
  if constexpr (!is_number_v<T>) *end++ = index_t(value);
}

template <index_t N>
TILEWRIGHT_HD constexpr transform_spec make_spec(transform_kind kind, index_t num_lower, index_t num_upper,
                                                 const array<index_t, N>& parameters,
                                                 const index_function* function = nullptr) {
  transform_spec spec{kind, static_cast<signed char>(num_lower), static_cast<signed char>(num_upper), {}, function};
  for (const index_t p : parameters) spec.parameters.push_back(p);
  return spec;
}

/// The transform whose parameters are the given numbers (static) and integers (dynamic).
template <transform_kind Kind, index_t NumLower, index_t NumUpper, const index_function* Function = nullptr,
          class... Ts>
TILEWRIGHT_HD constexpr auto make_transform(Ts... parameters) {
  static_assert(NumLower <= transform_spec::max_dims && NumUpper <= transform_spec::max_dims &&
                    sizeof...(Ts) <= transform_spec::max_parameters,
                "transform: too many dimensions; split it in two");
  coordinate_transform<make_spec(Kind, NumLower, NumUpper, array<index_t, sizeof...(Ts)>{static_value_v<Ts>...},
                                 Function)>
      result{};
  if constexpr (!(is_number_v<Ts> && ...)) {
    [[maybe_unused]] index_t* end = result.values.data();
    (append_if_dynamic(end, parameters), ...);
  }
  return result;
}

/// Lengths that the compiler knows and that are lengths. Factories then make their result in one step: each function on
/// the way is a template that this one descriptor needs.
template <class... Lengths>
concept KnownLengths = ((static_value_v<Lengths> >= 1) && ...);

template <transform_kind Kind, index_t NumLower, index_t NumUpper, class... Ts>
using static_transform =
    coordinate_transform<make_spec(Kind, NumLower, NumUpper, array<index_t, sizeof...(Ts)>{static_value_v<Ts>...})>;

/// The same of the elements of a tuple; static ones are not even looked at, because each look is a template.
template <transform_kind Kind, index_t NumLower, index_t NumUpper, class... Ts>
TILEWRIGHT_HD constexpr auto make_transform_of([[maybe_unused]] const tuple<Ts...>& parameters) {
  if constexpr ((is_number_v<Ts> && ...)) {
    // A parameter for each dimension.
    static_assert(sizeof...(Ts) <= transform_spec::max_dims, "transform: too many dimensions; split it in two");
    return static_transform<Kind, NumLower, NumUpper, Ts...>{};
  } else {
    return apply([](auto... p) { return make_transform<Kind, NumLower, NumUpper>(p...); }, parameters);
  }
}

/// a * b where either may be `dynamic`. What 32 bits cannot hold is lost; see default_rules::fits.
TILEWRIGHT_HD constexpr index_t multiply(index_t a, index_t b) {
  return a == dynamic || b == dynamic ? dynamic : index_t(unsigned(a) * unsigned(b));
}

inline constexpr long_index_t largest_index = 2147483647;

/// Whether the digits of a number are groups of its bits: all lengths but the first are powers of two, and known.
TILEWRIGHT_HD constexpr bool digits_are_bits(const index_t* lengths, index_t n) {
  for (index_t i = 1; i < n; ++i) {
    if (!is_power_of_two(lengths[i])) return false;
  }
  return true;
}

/// Product of n lengths, those left out that are known only at run time;
/// anything above largest_index is given as largest_index + 1.
TILEWRIGHT_HD constexpr long_index_t bounded_product(const index_t* lengths, index_t n) {
  long_index_t product = 1;
  for (index_t i = 0; i < n; ++i) {
    if (lengths[i] != dynamic) product = min(product * lengths[i], largest_index + 1);
  }
  return product;
}

/// A static length must be positive.
template <class... Lengths>
TILEWRIGHT_HD constexpr void require_lengths() {
  static_assert((IndexLike<Lengths> && ...), "transform: a length must be number<N>{} or an integer");
  static_assert(((static_value_v<Lengths> == dynamic || static_value_v<Lengths> >= 1) && ...),
                "transform: a length must be at least 1");
}

/// The run that a length leaves: unknown lengths leave 1, because nothing is guaranteed about their divisors.
TILEWRIGHT_HD constexpr index_t gcd_of_known(index_t run, index_t length) {
  return length == dynamic ? 1 : gcd(run, length);
}

}  // namespace detail
}  // namespace tilewright
