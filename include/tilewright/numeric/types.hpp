// SPDX-License-Identifier: MIT
// The element types: IEEE half and bfloat16 here, the 8-bit ones in their headers,
// and conversion between any two of them.
#pragma once

#include <tilewright/numeric/bits.hpp>
#include <tilewright/numeric/fp8.hpp>
#include <tilewright/util/type_traits.hpp>

namespace tilewright {

/// Signed 8-bit integer element.
using int8_t = signed char;

namespace detail {

/// Round to nearest, ties to even; beyond -128 and 127: these; NaN: 0.
TILEWRIGHT_HD constexpr int8_t int8_from_float(float value) {
  if (!(value > -128.0f)) return value != value ? int8_t(0) : int8_t(-128);
  if (value > 127.0f) return 127;
  // Numbers around 1.5 * 2^23 are integers: the addition rounds, and the low bits of the sum are the result.
  return static_cast<int8_t>(bit_cast<int>(value + 12582912.0f) - 0x4b400000);
}

/// Beyond -128 and 127: these.
template <class Integer>
TILEWRIGHT_HD constexpr int8_t int8_from_int(Integer value) {
  if (value > Integer(127)) return 127;
  if constexpr (Integer(-1) < Integer(0)) {
    if (value < Integer(-128)) return -128;
  }
  return static_cast<int8_t>(value);
}

}  // namespace detail

#if defined(__CUDACC__) && !defined(__clang__)
/// IEEE 754 binary16. nvcc has no _Float16 in device code, so this type stores the bits and converts.
struct half_t {
  unsigned short bits;

  half_t() = default;
  TILEWRIGHT_HD constexpr explicit half_t(float value) : bits(detail::half_bits_from_float(value)) {}
  TILEWRIGHT_HD constexpr operator float() const { return detail::float_from_half_bits(bits); }
};
#else
/// IEEE 754 binary16.
using half_t = _Float16;
#endif

/// The upper half of an IEEE 754 binary32; conversion from float rounds to nearest, ties to even, and keeps NaN.
struct bfloat16_t {
  unsigned short bits;

  bfloat16_t() = default;
  TILEWRIGHT_HD constexpr explicit bfloat16_t(float value) : bits(detail::bfloat16_bits_from_float(value)) {}
  TILEWRIGHT_HD constexpr operator float() const { return bit_cast<float>(unsigned(bits) << 16); }
};

static_assert(sizeof(half_t) == 2 && sizeof(bfloat16_t) == 2);

namespace detail {
template <class T>
inline constexpr bool is_small_float_v = __is_same(T, half_t) || __is_same(T, bfloat16_t) || detail::is_fp8_v<T>;
}  // namespace detail

/// Conversion between element types, through float where neither is float. To a floating-point type it rounds to
/// nearest, ties to even; to 8 bits it saturates as well. To wider integers it is C++'s own conversion, which
/// truncates.
template <class To, class From>
TILEWRIGHT_HD constexpr To type_convert(From value) {
  if constexpr (__is_same(To, From)) {
    return value;
  } else if constexpr (__is_same(To, int8_t) && detail::Integral<From>) {
    return detail::int8_from_int(value);
  } else if constexpr (__is_same(To, int8_t)) {
    return detail::int8_from_float(float(value));
  } else if constexpr (detail::is_small_float_v<To>) {
    return To(float(value));
  } else if constexpr (detail::is_small_float_v<From>) {
    return To(float(value));
  } else {
    return To(value);
  }
}

}  // namespace tilewright
