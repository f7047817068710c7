// SPDX-License-Identifier: MIT
// The merge transform: several lower dimensions as one upper one; the last lower dimension is the fastest. And unmerge,
// the reverse: one lower dimension as several upper ones in row-major order.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/transform/transform.hpp>

namespace tilewright {

namespace detail {

/// Adds digits to digits, digit i counting from 0 to lengths[i] - 1 but for the first,
/// which counts on: step becomes what changes.
TILEWRIGHT_HD constexpr void carry_over(const index_t* lengths, index_t n, const index_t* digits, index_t* step) {
  index_t carry = 0;
  for (index_t i = n - 1; i > 0; --i) {
    step[i] += carry;
    carry = step[i] >= lengths[i] - digits[i] ? 1 : 0;  // a sum could exceed 32 bits
    step[i] -= carry * lengths[i];
  }
  step[0] += carry;
}

template <index_t... Lengths>
TILEWRIGHT_HD constexpr void require_short_product() {
  static_assert(sizeof...(Lengths) >= 1, "merge: at least one length is needed");
  constexpr array<index_t, sizeof...(Lengths)> lengths{Lengths...};
  static_assert(bounded_product(lengths.data(), lengths.size()) <= largest_index,
                "merge: the merged length does not fit into 32 bits; merge fewer dimensions");
}

template <class Length>
TILEWRIGHT_HD constexpr auto multiplier_of(Length length) {
  if constexpr (is_number_v<Length>) {
    return number<index_t(make_magic_division(Length::value).multiplier)>{};
  } else {
    return index_t(make_magic_division(max(index_t(length), 1)).multiplier);  // 0: there is nothing to divide
  }
}

template <class Length>
TILEWRIGHT_HD constexpr auto shift_of(Length length) {
  if constexpr (is_number_v<Length>) {
    return number<make_magic_division(Length::value).shift>{};
  } else {
    return make_magic_division(max(index_t(length), 1)).shift;
  }
}

}  // namespace detail

/// Parameters: the n lower lengths.
template <>
struct detail::transform_rules<transform_kind::merge> : detail::default_rules {
  /// The digits of up[0] in the mixed base of the lower lengths, most significant first.
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t n, const index_t* up, index_t* low) {
    index_t rest = up[0];
    for (index_t i = n - 1; i > 0; --i) {
      low[i] = tilewright::modulo(rest, p[i]);
      rest = divide(rest, p[i]);
    }
    low[0] = rest;
  }
  /// The same for any up[0] below the product of the lengths.
  TILEWRIGHT_HD static constexpr void lower_anywhere(const index_t* p, index_t n, const index_t* up, index_t* low) {
    index_t rest = up[0];
    for (index_t i = n - 1; i > 0; --i) {
      low[i] = rest % p[i] + (rest % p[i] < 0 ? p[i] : 0);
      rest = (rest - low[i]) / p[i];
    }
    low[0] = rest;
  }
  static constexpr bool upper_lengths_are_parameters = false;
  /// The product of the lower lengths.
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t n, index_t) {
    index_t length = 1;
    for (index_t i = 0; i < n; ++i) length = detail::multiply(length, p[i]);
    return length;
  }
  TILEWRIGHT_HD static constexpr bool fits(const index_t* p, index_t n) {
    return detail::bounded_product(p, n) <= detail::largest_index;
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t i) { return p[i]; }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t n, const index_t* low_run, index_t* up_run) {
    // A run divides a length that is known only at run time; see contiguous_runs.
    up_run[0] = n == 1 || p[n - 1] == dynamic ? low_run[n - 1] : detail::gcd(low_run[n - 1], p[n - 1]);
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t n) { return detail::digits_are_bits(p, n); }
};

/// Parameters: the n lower lengths, then the multipliers and then the shifts of the
/// divisions by all but the first of them.
template <>
struct detail::transform_rules<transform_kind::merge_magic> : detail::transform_rules<transform_kind::merge> {
  /// The same with multiplications for divisions.
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t n, const index_t* up, index_t* low) {
    index_t rest = up[0];
    for (index_t i = n - 1; i > 0; --i) {
      const index_t quotient = division(p, n, i).divide(rest);
      low[i] = index_t(unsigned(rest) - unsigned(quotient) * unsigned(p[i]));  // in a pad it may be anything
      rest = quotient;
    }
    low[0] = rest;
  }
  /// The same with multiplications for divisions.
  TILEWRIGHT_HD static constexpr void lower_anywhere(const index_t* p, index_t n, const index_t* up, index_t* low) {
    index_t rest = up[0];
    for (index_t i = n - 1; i > 0; --i) {
      const index_t quotient = division(p, n, i).divide_rounding_down(rest);
      low[i] = rest - quotient * p[i];
      rest = quotient;
    }
    low[0] = rest;
  }

 private:
  TILEWRIGHT_HD static constexpr detail::magic_division division(const index_t* p, index_t n, index_t i) {
    return {unsigned(p[n + i - 1]), p[2 * n - 1 + i - 1]};
  }
};

/// make_merge_transform, always with the compiler's division: a few dozen instructions for each run-time length.
template <class... Lengths>
TILEWRIGHT_HD constexpr auto make_merge_transform_v3_division_mod(const tuple<Lengths...>& lower_lengths) {
  detail::require_lengths<Lengths...>();
  detail::require_short_product<detail::static_value_v<Lengths>...>();
  return detail::make_transform_of<transform_kind::merge, sizeof...(Lengths), 1>(lower_lengths);
}

/// make_merge_transform, always with divisions by multiplication. Up to six dimensions.
template <class... Lengths>
TILEWRIGHT_HD constexpr auto make_merge_transform_v2_magic_division(const tuple<Lengths...>& lower_lengths) {
  detail::require_lengths<Lengths...>();
  detail::require_short_product<detail::static_value_v<Lengths>...>();
  static_assert(sizeof...(Lengths) <= 6,
                "merge with magic division: at most six dimensions; merge in two steps, or use "
                "make_merge_transform_v3_division_mod");
  if constexpr (sizeof...(Lengths) <= 6) {
    return apply(
        [](auto first, auto... l) {
          return detail::make_transform<transform_kind::merge_magic, sizeof...(Lengths), 1>(
              first, l..., detail::multiplier_of(l)..., detail::shift_of(l)...);
        },
        lower_lengths);
  }
}

/// One upper dimension from several lower ones; the last is the fastest. Upper indices are less than 2^31. Vectors pass
/// that divide the last length; a guarantee of the descriptor below covers a last length known only at run time.
/// Run-time lengths are divided by through multiplication (their multipliers are computed here, so make such transforms
/// on the host), static ones as the compiler does it.
template <class... Lengths>
TILEWRIGHT_HD constexpr auto make_merge_transform(const tuple<Lengths...>& lower_lengths) {
  constexpr bool divides_by_run_time_length = []<class First, class... Rest>(tuple<First, Rest...>*) {
    return (!detail::is_number_v<Rest> || ...);
  }(static_cast<tuple<Lengths...>*>(nullptr));
  if constexpr (divides_by_run_time_length && sizeof...(Lengths) <= 6) {
    return make_merge_transform_v2_magic_division(lower_lengths);
  } else {
    return make_merge_transform_v3_division_mod(lower_lengths);
  }
}

/// Parameters: the n upper lengths.
template <>
struct detail::transform_rules<transform_kind::unmerge> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::row_major;

  /// low[0] = ((up[0] p[1] + up[1]) p[2] + up[2]) ...
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t n, const index_t* up, index_t* low) {
    unsigned sum = unsigned(up[0]);  // unsigned, because below a pad an index may be anything
    for (index_t i = 1; i < n; ++i) sum = sum * unsigned(p[i]) + unsigned(up[i]);
    low[0] = index_t(sum);
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t n, index_t) {
    index_t length = 1;
    for (index_t i = 0; i < n; ++i) length = detail::multiply(length, p[i]);
    return length;
  }
  TILEWRIGHT_HD static constexpr long_index_t least_lower_length(const index_t* p, index_t n, index_t) {
    long_index_t length = 1;
    for (index_t i = 0; i < n && length <= detail::largest_index; ++i) length *= p[i] == dynamic ? 0 : p[i];
    return length;
  }
  TILEWRIGHT_HD static constexpr bool fits(const index_t* p, index_t n) {
    return least_lower_length(p, n, 0) <= detail::largest_index + 1;
  }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t n, const index_t* low_run, index_t* up_run) {
    for (index_t i = 0; i < n; ++i) up_run[i] = 1;
    up_run[n - 1] = detail::gcd_of_known(low_run[0], p[n - 1]);
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t n) { return detail::digits_are_bits(p, n); }
};

/// lower = row-major linearisation of the upper indices; the last is the fastest. Vectors pass to the last upper
/// dimension as far as their length divides its length, if that is static.
template <class... Lengths>
TILEWRIGHT_HD constexpr auto make_unmerge_transform(const tuple<Lengths...>& upper_lengths) {
  static_assert(sizeof...(Lengths) >= 1, "unmerge: at least one length is needed");
  detail::require_lengths<Lengths...>();
  return detail::make_transform_of<transform_kind::unmerge, 1, sizeof...(Lengths)>(upper_lengths);
}

}  // namespace tilewright
