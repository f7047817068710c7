// SPDX-License-Identifier: MIT
// Formats of operands that are stored in fewer bits than they are multiplied in: how words become elements.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/machine/exec/half_pairs.hpp>

namespace tilewright {

/// A format without zero points.
struct no_zero_points {};

/// The base of an operand format: what lies in memory. Element k of a line of the operand (a column of B, whose k are
/// contiguous) is element k % Elements of its word k / Elements, with scale k / Group and zero point k / Group of that
/// line; Group 0: the whole line has one. A format derives from it and defines
///   template <class T> TILEWRIGHT_HD static array<T, Elements> decode(Word)   // or decode(Word, Zero)
/// for T half_t and bfloat16_t: the elements of a word in the order of k, before the scale, exactly. A format whose
/// scales are not numbers of their own type hides `scale`. One of eight elements may also define decode_pairs: the same
/// in the order 0 4 1 5 2 6 3 7, for pipelines that can give the other operand this order. It is often faster. It may
/// multiply all elements with a power of two, which is then F::pairs_factor<T>: scales are divided by it.
template <class Word, index_t Elements, class Scale, index_t Group, class Zero = no_zero_points>
struct operand_format {
  using word_type = Word;                                                    ///< unsigned, 1, 2 or 4 bytes
  using scale_type = Scale;                                                  ///< stored, for each group
  using zero_type = Zero;                                                    ///< stored, for each group
  static constexpr index_t elements = Elements;                              ///< of a word
  static constexpr index_t group = Group;                                    ///< elements of a scale; 0: the line's
  static constexpr index_t bits = 8 * index_t(sizeof(Word)) / Elements;      ///< of an element
  static constexpr bool has_zero_points = !__is_same(Zero, no_zero_points);  ///< whether decode takes one
  static_assert(detail::is_power_of_two(Elements) && Group % Elements == 0,
                "operand_format: a word has a power of two of elements, all of one group");

  /// The factor of a group.
  TILEWRIGHT_HD static constexpr float scale(Scale stored) { return type_convert<float>(stored); }
};

namespace detail {

/// Whether F has a decode_pairs.
template <class F, class T>
inline constexpr bool has_decode_pairs = requires(typename F::word_type word) {
  F::template decode_pairs<T>(word);
} || requires(typename F::word_type word, typename F::zero_type zero) { F::template decode_pairs<T>(word, zero); };

/// The power of two that F's decode_pairs multiplies elements with: F::pairs_factor<T>, if F has one.
template <class F, class T>
TILEWRIGHT_HD constexpr float pairs_factor() {
  if constexpr (requires { F::template pairs_factor<T>; } && has_decode_pairs<F, T>)
    return F::template pairs_factor<T>;
  else
    return 1;
}
/// The scale of a group for elements of decode_word<F, T, true>.
template <class F, class T>
TILEWRIGHT_HD constexpr float scale_of_pairs(typename F::scale_type stored) {
  return F::scale(stored) * (1 / pairs_factor<F, T>());
}

/// Decodes with or without a zero point; InPairs: by decode_pairs, if there is one.
template <class F, class T, bool InPairs = false>
TILEWRIGHT_HD array<T, F::elements> decode_word(typename F::word_type word, typename F::zero_type zero) {
  if constexpr (InPairs && has_decode_pairs<F, T>) {
    if constexpr (F::has_zero_points) {
      return F::template decode_pairs<T>(word, zero);
    } else {
      return F::template decode_pairs<T>(word);
    }
  } else if constexpr (F::has_zero_points) {
    return F::template decode<T>(word, zero);
  } else {
    return F::template decode<T>(word);
  }
}

/// Elements times a factor, two equal numbers of T. IsExact: see exec::multiply_halves.
template <bool IsExact = false, class T, index_t N>
TILEWRIGHT_HD array<T, N> multiply_elements(const array<T, N>& elements, unsigned factor) {
  auto pairs = bit_cast<array<unsigned, N / 2>>(elements);
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < N / 2; ++i) pairs[i] = exec::multiply_halves<T, IsExact>(pairs[i], factor);
  return bit_cast<array<T, N>>(pairs);
}
/// Elements times a scale that is rounded to T.
template <bool IsExact = false, class T, index_t N>
TILEWRIGHT_HD array<T, N> scale_elements(const array<T, N>& elements, float scale) {
  return multiply_elements<IsExact>(elements, bits_of_pair<T>(scale, scale));
}

}  // namespace detail

/// What a pipeline asks of an operand's format: see operand_format.
template <class F>
concept OperandFormat = requires(typename F::scale_type scale) {
  { F::elements + F::group + F::bits } -> detail::ConvertibleTo<index_t>;
  { F::scale(scale) } -> detail::ConvertibleTo<float>;
} && (requires(typename F::word_type word) {
  { F::template decode<bfloat16_t>(word) } -> detail::ConvertibleTo<array<bfloat16_t, F::elements>>;
} || requires(typename F::word_type word, typename F::zero_type zero) {
  { F::template decode<bfloat16_t>(word, zero) } -> detail::ConvertibleTo<array<bfloat16_t, F::elements>>;
});

}  // namespace tilewright
