// SPDX-License-Identifier: MIT
// Transforms that keep a dimension or move it by a constant: pass_through; offset; slice, a contiguous range; pad, with
// elements that do not exist in memory on either side.
#pragma once

#include <tilewright/core/transform/transform.hpp>

namespace tilewright {

/// Parameters: length.
template <>
struct detail::transform_rules<transform_kind::pass_through> : detail::default_rules {
  static constexpr detail::linear_rule linear = detail::linear_rule::unit;

  /// low[0] = up[0].
  TILEWRIGHT_HD static constexpr void lower(const index_t*, index_t, const index_t* up, index_t* low) {
    low[0] = up[0];
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t) { return p[0]; }
  TILEWRIGHT_HD static constexpr void run(const index_t*, index_t, const index_t* low_run, index_t* up_run) {
    up_run[0] = low_run[0];
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t*, index_t) { return true; }
};

/// lower = upper. Vectors pass.
template <class Length>
TILEWRIGHT_HD constexpr auto make_pass_through_transform(Length length) {
  if constexpr (detail::KnownLengths<Length>) {
    return detail::static_transform<transform_kind::pass_through, 1, 1, Length>{};
  } else {
    detail::require_lengths<Length>();
    return detail::make_transform<transform_kind::pass_through, 1, 1>(length);
  }
}

namespace detail {
/// A dimension that moves by parameter 1; pad subtracts it.
struct offset_rules : default_rules {
  static constexpr linear_rule linear = linear_rule::unit;
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = index_t(unsigned(up[0]) + unsigned(p[1]));  // see embed
  }
  TILEWRIGHT_HD static constexpr bool f2_linear(const index_t* p, index_t) { return p[1] == 0; }
  TILEWRIGHT_HD static constexpr bool has_constant_term(const index_t* p, index_t) { return p[1] != 0; }
};
}  // namespace detail

/// Parameters: upper length, offset.
template <>
struct detail::transform_rules<transform_kind::offset> : detail::offset_rules {
  TILEWRIGHT_HD static constexpr long_index_t least_lower_length(const index_t* p, index_t, index_t) {
    return p[0] == dynamic || p[1] == dynamic ? 0 : long_index_t(p[0]) + p[1];
  }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t, const index_t* low_run, index_t* up_run) {
    up_run[0] = detail::gcd_of_known(detail::gcd_of_known(low_run[0], p[0]), p[1]);
  }
};

/// lower = upper + offset, for upper indices below length; the offset must not be negative. Vectors pass that divide
/// both. Where the length of the lower dimension is known, make_slice_transform also checks the end.
template <class Length, class Offset>
TILEWRIGHT_HD constexpr auto make_offset_transform(Length length, Offset offset) {
  detail::require_lengths<Length>();
  static_assert(detail::IndexLike<Offset>, "offset: the offset must be number<N>{} or an integer");
  if constexpr (detail::is_number_v<Offset>) {
    static_assert(Offset::value >= 0,
                  "offset: index 0 would lie before the dimension; use make_left_pad_transform to add elements that do "
                  "not exist");
  }
  return detail::make_transform<transform_kind::offset, 1, 1>(length, offset);
}

/// Parameters: lower length, begin, end.
template <>
struct detail::transform_rules<transform_kind::slice> : detail::offset_rules {
  static constexpr bool upper_lengths_are_parameters = false;
  /// What is left between both ends.
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t, index_t) {
    return p[1] == dynamic || p[2] == dynamic ? dynamic : p[2] - p[1];
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t) { return p[0]; }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t, const index_t* low_run, index_t* up_run) {
    up_run[0] = detail::gcd_of_known(detail::gcd_of_known(low_run[0], p[1]), p[2]);
  }
};

namespace detail {

template <index_t Length, index_t Begin, index_t End>
TILEWRIGHT_HD constexpr void require_slice() {
  static_assert(Begin == dynamic || Begin >= 0, "slice: it begins before the dimension");
  static_assert(Begin == dynamic || End == dynamic || Begin < End, "slice: it ends before it begins, or holds nothing");
  static_assert(End == dynamic || Length == dynamic || End <= Length, "slice: it ends after the dimension");
}

}  // namespace detail

/// Indices begin, begin + 1, ... < end of a dimension of the given length: lower = upper + begin, and the upper length
/// is end - begin. Vectors pass as far as their length divides begin and end.
/// 0 <= begin < end <= length is checked where all are static.
template <class Length, class Begin, class End>
TILEWRIGHT_HD constexpr auto make_slice_transform(Length length, Begin begin, End end) {
  detail::require_lengths<Length>();
  static_assert(detail::IndexLike<Begin> && detail::IndexLike<End>,
                "slice: begin and end must be number<N>{} or an integer");
  detail::require_slice<detail::static_value_v<Length>, detail::static_value_v<Begin>, detail::static_value_v<End>>();
  return detail::make_transform<transform_kind::slice, 1, 1>(length, begin, end);
}

/// Parameters: lower length, left pad, right pad. lower = upper - left; valid where 0 <= lower < lower length.
template <>
struct detail::transform_rules<transform_kind::pad> : detail::offset_rules {
  static constexpr bool may_be_invalid = true;

  /// low[0] = up[0] - left pad.
  TILEWRIGHT_HD static constexpr void lower(const index_t* p, index_t, const index_t* up, index_t* low) {
    low[0] = index_t(unsigned(up[0]) - unsigned(p[1]));  // see embed
  }
  static constexpr bool upper_lengths_are_parameters = false;
  /// The lower length and both pads.
  TILEWRIGHT_HD static constexpr index_t upper_length(const index_t* p, index_t, index_t) {
    if (p[0] == dynamic || p[1] == dynamic || p[2] == dynamic) return dynamic;
    return index_t(unsigned(p[0]) + unsigned(p[1]) + unsigned(p[2]));
  }
  TILEWRIGHT_HD static constexpr bool fits(const index_t* p, index_t) {
    return long_index_t(p[0]) + p[1] + p[2] <= detail::largest_index;
  }
  TILEWRIGHT_HD static constexpr index_t lower_length(const index_t* p, index_t, index_t) { return p[0]; }
  TILEWRIGHT_HD static constexpr bool is_valid(const index_t* p, index_t, const index_t* up) {
    return unsigned(up[0]) - unsigned(p[1]) < unsigned(p[0]);
  }
  TILEWRIGHT_HD static constexpr void run(const index_t* p, index_t, const index_t* low_run, index_t* up_run) {
    // A vector must be wholly inside or wholly outside of the original tensor. Lengths known only at run time are
    // covered by the guarantee that came with them, which the lower run already contains.
    index_t r = low_run[0];
    if (p[0] != dynamic) r = detail::gcd(r, p[0]);
    up_run[0] = detail::gcd_of_known(r, p[1]);
  }
};

namespace detail {

template <index_t Length, index_t Left, index_t Right>
TILEWRIGHT_HD constexpr void require_short_pads() {
  static_assert((Left == dynamic || Left >= 0) && (Right == dynamic || Right >= 0),
                "pad: a tensor cannot be padded by less than nothing; use make_slice_transform to make it smaller");
  if constexpr (Length != dynamic && Left != dynamic && Right != dynamic) {
    static_assert(long_index_t{Length} + Left + Right <= largest_index,
                  "pad: the padded length does not fit into 32 bits");
  }
}

}  // namespace detail

/// lower = upper - left; the upper length is left + length + right. There is no element where lower < 0 or
/// lower >= length. Vectors pass as far as their length divides length and left,
/// so that each is entirely inside or entirely outside.
template <class Length, class Left, class Right>
TILEWRIGHT_HD constexpr auto make_pad_transform(Length length, Left left, Right right) {
  detail::require_lengths<Length>();
  static_assert(detail::IndexLike<Left> && detail::IndexLike<Right>,
                "pad: how much to add must be number<N>{} or an integer");
  detail::require_short_pads<detail::static_value_v<Length>, detail::static_value_v<Left>,
                             detail::static_value_v<Right>>();
  return detail::make_transform<transform_kind::pad, 1, 1>(length, left, right);
}

/// lower = upper - left; valid from `left` on.
template <class Length, class Left>
TILEWRIGHT_HD constexpr auto make_left_pad_transform(Length length, Left left) {
  return make_pad_transform(length, left, number<0>{});
}

/// lower = upper; valid below `length`.
template <class Length, class Right>
TILEWRIGHT_HD constexpr auto make_right_pad_transform(Length length, Right right) {
  return make_pad_transform(length, number<0>{}, right);
}

}  // namespace tilewright
