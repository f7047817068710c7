// SPDX-License-Identifier: MIT
// Ready operand formats: integers and floats of 4 and 8 bits with scales for groups or for whole lines.
#pragma once

#include <tilewright/block/operands/operand_format.hpp>
#include <tilewright/core/base/narrow_float.hpp>
#include <tilewright/machine/exec/convert_word.hpp>
#include <tilewright/machine/exec/scaled_conversions.hpp>

namespace tilewright {

namespace detail {

/// Two elements of 16 bits in each register, as elements.
template <class T, index_t N>
TILEWRIGHT_HD array<T, 2 * N> elements_of_pairs(const array<unsigned, N>& pairs) {
  return bit_cast<array<T, 2 * N>>(pairs);
}

/// The bits of two equal numbers of T.
template <class T>
TILEWRIGHT_HD constexpr unsigned pair_of(float value) {
  return bit_cast<unsigned short>(T(value)) * 0x10001u;
}

/// Eight unsigned 4-bit integers less `zero`. An integer in the low mantissa bits of 2^7 (bfloat16_t) or 2^10 (half_t)
/// is that power and the integer; the difference is exact.
template <class T>
TILEWRIGHT_HD array<T, 8> decode_uint4(unsigned word, unsigned zero) {
  constexpr unsigned offset = pair_of<T>(__is_same(T, half_t) ? 1024 : 128);
  const unsigned high = word >> 4, less = offset + zero * 0x10001u;
  array<unsigned, 4> pairs;
  TILEWRIGHT_UNROLL_ALL
  for (unsigned j = 0; j < 4; ++j) {  // byte j of `word`, and in the upper half byte j of `high`
    const unsigned both = exec::permute_bytes(word, high, j | 4 << 4 | (j + 4) << 8 | 4 << 12);
    pairs[index_t(j)] = exec::subtract_halves<T>(exec::and_or(both, 0xf000fu, offset), less);
  }
  return elements_of_pairs<T>(pairs);
}

/// Two of the eight bits of a byte's integers are where they are multiplied from, so that two pairs take one shift:
/// half_t has both in mantissas of 2^10; in bfloat16_t they are denormal numbers, and the lowest normal ones after
/// them.
template <class T>
TILEWRIGHT_HD array<T, 8> decode_uint4_pairs(unsigned word, unsigned less_low, unsigned less_high) {
  constexpr bool f16 = __is_same(T, half_t);
  constexpr unsigned offset = f16 ? 0x64006400u : 0u, low = pair_of<T>(f16 ? 1.0f : 0x1p127f),
                     high = pair_of<T>(f16 ? 0x1p-4f : 0x1p123f);
  array<unsigned, 4> pairs;
  TILEWRIGHT_UNROLL_ALL
  for (index_t j = 0; j < 4; j += 2) {
    const unsigned two = word >> 4 * j;
    pairs[j] = exec::multiply_add_halves<T>(exec::and_or(two, 0xf000fu, offset), low, less_low);
    pairs[j + 1] = exec::multiply_add_halves<T>(exec::and_or(two, 0xf000f0u, offset), high, less_high);
  }
  return elements_of_pairs<T>(pairs);
}
/// The same as decode_uint4 in the order 0 4 1 5 2 6 3 7, times int4_groups::pairs_factor.
template <class T>
TILEWRIGHT_HD array<T, 8> decode_uint4_pairs(unsigned word, no_zero_points) {
  constexpr bool f16 = __is_same(T, half_t);
  return decode_uint4_pairs<T>(word, pair_of<T>(f16 ? -1032.0f : -0x1p-3f), pair_of<T>(f16 ? -72.0f : -0x1p-3f));
}
template <class T>
TILEWRIGHT_HD array<T, 8> decode_uint4_pairs(unsigned word, unsigned zero) {
  if constexpr (__is_same(T, half_t))
    return decode_uint4_pairs<T>(word, 0xe400e400u + zero * 0x10001u, 0xd400d400u + zero * 0x100010u);
  // 2 - (128 + zero) / 64
  const unsigned less =
      exec::multiply_add_halves<T>(0x43004300u + zero * 0x10001u, pair_of<T>(-0x1p-6f), pair_of<T>(2.0f));
  return decode_uint4_pairs<T>(word, less, less);
}

/// Whether some formats have decode_scaled for bfloat16_t: for machines without arithmetic of bfloat16_t.
#if TILEWRIGHT_NVPTX_PASS
inline constexpr bool scales_while_decoding = false;
#else
inline constexpr bool scales_while_decoding = true;
#endif

/// Bytes of the eight magnitudes of e2m1 in T.
struct e2m1_bytes {
  unsigned high[2], low[2];
};
template <class T>
TILEWRIGHT_HD constexpr e2m1_bytes bytes_of_e2m1() {
  if constexpr (__is_same(T, half_t)) return {{0x3e3c3800u, 0x46444240u}, {0, 0}};
  return {{0x3f3f3f00u, 0x40404040u}, {0xc0800000u, 0xc0804000u}};
}
/// Those of bfloat16_t times a scale; products are exact.
TILEWRIGHT_HD e2m1_bytes scaled_e2m1_bytes(float scale) {
  constexpr float magnitudes[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  e2m1_bytes all;
  TILEWRIGHT_UNROLL_ALL
  for (index_t half = 0; half < 2; ++half) {
    const float* const m = magnitudes + 4 * half;
    const unsigned first = exec::pack_exact<bfloat16_t>(m[0] * scale, m[1] * scale),
                   second = exec::pack_exact<bfloat16_t>(m[2] * scale, m[3] * scale);
    all.high[half] = exec::permute_bytes(first, second, 0x7531);
    all.low[half] = exec::permute_bytes(first, second, 0x6420);
  }
  return all;
}

/// Eight e2m1, whose magnitudes are looked up. HasSigns: those that are looked up may be negative.
template <class T, bool HasSigns = false>
TILEWRIGHT_HD array<T, 8> decode_e2m1(unsigned word, const e2m1_bytes& magnitudes = bytes_of_e2m1<T>()) {
  constexpr bool f16 = __is_same(T, half_t);
  array<unsigned, 2> upper, lower;  // bytes of the even elements, and of the odd ones
  TILEWRIGHT_UNROLL_ALL
  for (index_t odd = 0; odd < 2; ++odd) {
    const unsigned codes = odd ? word >> 4 : word, signs = odd ? word : word << 4;
    const unsigned high = exec::look_up_bytes(magnitudes.high[0], magnitudes.high[1], codes & 0x07070707u);
    upper[odd] = HasSigns ? (signs & 0x80808080u) ^ high : exec::and_or(signs, 0x80808080u, high);
    lower[odd] = f16 ? 0u : exec::look_up_bytes(magnitudes.low[0], magnitudes.low[1], codes & 0x07070707u);
  }
  array<unsigned, 4> pairs;
  TILEWRIGHT_UNROLL_ALL
  for (unsigned j = 0; j < 4; ++j) {
    const unsigned even = exec::permute_bytes(lower[0], upper[0], j < 2 ? 0x5140 : 0x7362),
                   odd = exec::permute_bytes(lower[1], upper[1], j < 2 ? 0x5140 : 0x7362);
    pairs[index_t(j)] = exec::gather_halves(even, odd, index_t(j % 2));
  }
  return elements_of_pairs<T>(pairs);
}

/// The same in the order 0 4 1 5 2 6 3 7.
template <class T>
TILEWRIGHT_HD array<T, 8> decode_e2m1_pairs(unsigned word) {
  constexpr bool f16 = __is_same(T, half_t);
  constexpr int shift = f16 ? 3 : 6;
  constexpr unsigned magnitude = 0x70007000u >> shift, factor = pair_of<T>(f16 ? 0x1p14f : 0x1p126f);
  array<unsigned, 4> pairs;
  TILEWRIGHT_UNROLL_ALL
  for (int j = 0; j < 4; ++j) {  // left shifts are multiplications, which NVIDIA GPUs do elsewhere than bit operations
    const int left = 12 - 4 * j;
    const unsigned placed = left >= shift ? word << (left - shift) : word >> (shift - left);
    pairs[j] = exec::multiply_halves<T>(exec::and_or(word << left, 0x80008000u, placed & magnitude), factor);
  }
  return elements_of_pairs<T>(pairs);
}

/// A word of 2 Pairs elements of E times a power of two.
template <class T, arch::scaled_element E, index_t Pairs>
TILEWRIGHT_HD array<T, 2 * Pairs> convert_scaled_word(unsigned word, float scale) {
  array<unsigned, Pairs> pairs;
  unroll<Pairs>([&](auto j)
                    TILEWRIGHT_INLINE_LAMBDA { pairs[j.value] = exec::convert_scaled<T, E, j.value>(word, scale); });
  return elements_of_pairs<T>(pairs);
}

/// 16 floats of 6 bits, Mantissa of them mantissa. Their exponent and mantissa in the lowest exponent bits of T are the
/// number times a power of two, denormal ones too.
template <class T, int Mantissa>
TILEWRIGHT_HD array<T, 16> decode_6_bits(const array<unsigned, 3>& word) {
  constexpr bool f16 = __is_same(T, half_t);
  constexpr int shift = (f16 ? 10 : 7) - Mantissa;
  constexpr unsigned power =
      pair_of<T>(f16 ? (Mantissa == 3 ? 0x1p14f : 0x1p12f) : (Mantissa == 3 ? 0x1p126f : 0x1p124f));
  array<unsigned, 8> pairs;
  TILEWRIGHT_UNROLL_ALL
  for (int j = 0; j < 8; ++j) {
    const int first = 12 * j, w = first / 32, at = first % 32;
    const unsigned two = (word[w] >> at) | (at > 20 ? word[w + 1] << (32 - at) : 0u);
    const unsigned both = (two & 0x3fu) | (two & 0xfc0u) << 10;
    pairs[j] = exec::multiply_halves<T>(exec::and_or(both << 10, 0x80008000u, (both & 0x1f001fu) << shift), power);
  }
  return elements_of_pairs<T>(pairs);
}

}  // namespace detail

/// 4-bit integers q with a scale for each Group along k (32, 64, 128; 0: per column): the element is (q - 8) scale.
/// compressed-tensors stores them so (`weight_packed`, `weight_scale`, symmetric); repack_int4 makes them of AWQ's and
/// GPTQ's. Zero: int4_zero_groups has zero points.
template <index_t Group, class Scale = bfloat16_t, class Zero = no_zero_points>
struct int4_groups : operand_format<unsigned, 8, Scale, Group, Zero> {
  /// The elements before the scale.
  template <class T>
  TILEWRIGHT_HD static array<T, 8> decode(unsigned word, [[maybe_unused]] Zero zero = {}) {
    if constexpr (int4_groups::has_zero_points)
      return detail::decode_uint4<T>(word, zero);
    else
      return detail::decode_uint4<T>(word, 8);
  }
  /// The same in the order 0 4 1 5 2 6 3 7.
  template <class T>
  TILEWRIGHT_HD static array<T, 8> decode_pairs(unsigned word, Zero zero = {}) {
    return detail::decode_uint4_pairs<T>(word, zero);
  }
  /// The elements times a scale that is rounded to T.
  template <class T>
  TILEWRIGHT_HD static array<T, 8> decode_scaled(unsigned word, [[maybe_unused]] Zero zero, float scale)
    requires(detail::scales_while_decoding && __is_same(T, bfloat16_t))
  {
    float less = 8;
    if constexpr (int4_groups::has_zero_points) less = float(zero);
    return detail::elements_of_pairs<T>(exec::scale_bytes(word & 0x0f0f0f0fu, word >> 4 & 0x0f0f0f0fu, less, T(scale)));
  }
  /// That decode_pairs has multiplied with.
  template <class T>
  static constexpr float pairs_factor = __is_same(T, half_t) ? 1.0f : 0x1p-6f;
};
/// The same with a zero point for each group, a byte from 0 to 16: the element is (q - zero) scale.
template <index_t Group, class Scale = bfloat16_t>
using int4_zero_groups = int4_groups<Group, Scale, unsigned char>;

/// e2m1 with a scale for each Group along k.
template <index_t Group, class Scale>
struct e2m1_groups : operand_format<unsigned, 8, Scale, Group> {
  static constexpr bool has_exact_scales = sizeof(Scale) == 1;  ///< scaled elements are numbers of bfloat16_t
  static constexpr bool has_powers = __is_same(Scale, e8m0_t);  ///< scales are powers of two
  /// The elements times a scale, of which products are exact.
  template <class T>
  TILEWRIGHT_HD static array<T, 8> decode_scaled(unsigned word, no_zero_points, float scale)
    requires((exec::has_scaled_conversions && has_powers) ||
             (detail::scales_while_decoding && has_exact_scales && __is_same(T, bfloat16_t)))
  {
    if constexpr (exec::has_scaled_conversions && has_powers)
      return detail::convert_scaled_word<T, arch::scaled_element::e2m1, 4>(word, scale);
    else
      return detail::decode_e2m1<T, !has_powers>(word, detail::scaled_e2m1_bytes(scale));
  }
  /// The elements before the scale.
  template <class T>
  TILEWRIGHT_HD static array<T, 8> decode(unsigned word) {
    return detail::decode_e2m1<T>(word);
  }
  /// The same in the order 0 4 1 5 2 6 3 7.
  template <class T>
  TILEWRIGHT_HD static array<T, 8> decode_pairs(unsigned word) {
    return detail::decode_e2m1_pairs<T>(word);
  }
};
using mxfp4_format = e2m1_groups<32, e8m0_t>;     ///< OCP MXFP4: element 2i in the low half of byte i
using nvfp4_format = e2m1_groups<16, fp8_ocp_t>;  ///< NVFP4; its one float for the tensor is a factor of the result

/// Signed 8-bit integers with a scale for each Group along k; 0: per column.
template <index_t Group = 0, class Scale = float>
struct int8_groups : operand_format<unsigned, 4, Scale, Group> {
  /// The elements before the scale.
  template <class T>
  TILEWRIGHT_HD static array<T, 4> decode(unsigned word) {
    return detail::elements_of_pairs<T>(exec::convert_word<T, int8_t>(word));
  }
};

/// Floats of 8 bits with a scale for each Group along k; 0: per column. Infinities and NaN stay what they are.
template <detail::fp8_format F, index_t Group, class Scale>
struct fp8_groups : operand_format<unsigned, 4, Scale, Group> {
  static constexpr bool has_exact_scales = __is_same(Scale, e8m0_t);  ///< scaled elements are numbers of bfloat16_t
  /// The elements times a power of two.
  template <class T>
  TILEWRIGHT_HD static array<T, 4> decode_scaled(unsigned word, no_zero_points, float scale)
    requires(exec::has_scaled_conversions && __is_same(Scale, e8m0_t))
  {
    using enum arch::scaled_element;
    return detail::convert_scaled_word<T, F == detail::fp8_format::e4m3 ? e4m3 : e5m2, 2>(word, scale);
  }
  /// The elements before the scale.
  template <class T>
  TILEWRIGHT_HD static array<T, 4> decode(unsigned word) {
    return detail::elements_of_pairs<T>(exec::convert_word<T, fp8<F>>(word));
  }
};
template <index_t Group = 0, class Scale = float>
using e4m3_groups = fp8_groups<detail::fp8_format::e4m3, Group, Scale>;  ///< fp8_groups of e4m3
template <index_t Group = 0, class Scale = float>
using e5m2_groups = fp8_groups<detail::fp8_format::e5m2, Group, Scale>;  ///< fp8_groups of e5m2

/// Floats of 6 bits, Mantissa (2 or 3) of them mantissa, without gaps: 16 in 12 bytes. A scale for each Group along k.
template <int Mantissa, index_t Group, class Scale>
struct fp6_groups : operand_format<array<unsigned, 3>, 16, Scale, Group> {
  static constexpr bool has_exact_scales = __is_same(Scale, e8m0_t);  ///< scaled elements are numbers of bfloat16_t
  /// The elements before the scale.
  template <class T>
  TILEWRIGHT_HD static array<T, 16> decode(const array<unsigned, 3>& word) {
    return detail::decode_6_bits<T, Mantissa>(word);
  }
};
using mxfp8_format = e4m3_groups<32, e8m0_t>;         ///< OCP MXFP8 with e4m3
using mxfp8_e5m2_format = e5m2_groups<32, e8m0_t>;    ///< OCP MXFP8 with e5m2
using mxfp6_e2m3_format = fp6_groups<3, 32, e8m0_t>;  ///< OCP MXFP6 with e2m3
using mxfp6_e3m2_format = fp6_groups<2, 32, e8m0_t>;  ///< OCP MXFP6 with e3m2

}  // namespace tilewright
