// SPDX-License-Identifier: MIT
// The element types: IEEE half and bfloat16 here, the 8-bit ones in their headers, and conversion between any two of
// them, of one number or of a pair.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/fp8.hpp>
#include <tilewright/core/base/narrow_float.hpp>
#include <tilewright/core/base/narrow_int.hpp>
#include <tilewright/core/base/type_traits.hpp>

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

#if (defined(__CUDACC__) && !defined(__clang__)) || defined(__wasm__)
/// IEEE 754 binary16. nvcc (in device code) and WebAssembly have no _Float16, so this type stores the bits and
/// converts.
struct half_t {
  unsigned short bits;  ///< sign, 5 bits of exponent, 10 of mantissa

  half_t() = default;
  /// Rounds to nearest even.
  TILEWRIGHT_HD constexpr explicit half_t(float value) : bits(detail::half_bits_from_float(value)) {}
  /// Exact.
  TILEWRIGHT_HD constexpr operator float() const { return detail::float_from_half_bits(bits); }
};
#else
/// IEEE 754 binary16.
using half_t = _Float16;
#endif

/// The upper half of an IEEE 754 binary32; conversion from float rounds to nearest, ties to even, and keeps NaN.
struct bfloat16_t {
  unsigned short bits;  ///< the upper half of a float

  bfloat16_t() = default;
  /// Rounds to nearest even.
  TILEWRIGHT_HD constexpr explicit bfloat16_t(float value) : bits(detail::bfloat16_bits_from_float(value)) {}
  /// Exact.
  TILEWRIGHT_HD constexpr operator float() const { return bit_cast<float>(unsigned(bits) << 16); }
};

static_assert(sizeof(half_t) == 2 && sizeof(bfloat16_t) == 2);

namespace detail {
template <class T>
inline constexpr bool is_small_float_v = __is_same(T, half_t) || __is_same(T, bfloat16_t) || detail::is_fp8_v<T>;
template <class T>
inline constexpr bool converts_by_float_v = is_small_float_v<T> || __is_same(T, e8m0_t);
template <narrow_format F>
inline constexpr bool converts_by_float_v<narrow_float<F>> = true;
template <bool Signed>
inline constexpr bool converts_by_float_v<narrow_int<Signed>> = true;
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
  } else if constexpr (detail::converts_by_float_v<To>) {
    return To(float(value));
  } else if constexpr (detail::converts_by_float_v<From>) {
    return To(float(value));
  } else {
    return To(value);
  }
}

namespace detail {

/// The bits of two 16-bit floats, the first one below.
template <class To>
TILEWRIGHT_HD constexpr unsigned bits_of_pair(float low, float high) {
#if TILEWRIGHT_AMDGCN_PASS && defined(__GFX9__) && !defined(__gfx950__)
  if (!__builtin_is_constant_evaluated() && __is_same(To, half_t)) {
    // Products with a one that the compiler cannot see become v_fma_mixlo_f16 and v_fma_mixhi_f16: nothing to pack. It
    // must not see two products alike either, which it would compute by one packed product.
    float one = 1.0f;
    asm("" : "+s"(one));
    _Float16 lower = _Float16(low * one);
    asm("" : "+v"(lower));
    using pair __attribute__((ext_vector_type(2))) = _Float16;
    return __builtin_bit_cast(unsigned, pair{lower, _Float16(high * one)});
  }
#elif TILEWRIGHT_AMDGCN_PASS && (defined(__gfx950__) || defined(__gfx1250__))
  if (!__builtin_is_constant_evaluated()) {
    using floats __attribute__((ext_vector_type(2))) = float;
    using pair __attribute__((ext_vector_type(2))) = conditional_t<__is_same(To, half_t), _Float16, __bf16>;
    return __builtin_bit_cast(unsigned, __builtin_convertvector((floats{low, high}), pair));
  }
#elif TILEWRIGHT_NVPTX_PASS
  if (!__builtin_is_constant_evaluated()) {
    unsigned pair;
    if constexpr (__is_same(To, half_t)) {
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    } else {
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    }
    return pair;
  }
#endif
  return unsigned(bit_cast<unsigned short>(To(low))) | unsigned(bit_cast<unsigned short>(To(high))) << 16;
}

}  // namespace detail

/// Two floats as half_t, bfloat16_t or 8-bit floats, rounded and saturated as type_convert does.
template <class To>
TILEWRIGHT_HD constexpr array<To, 2> convert_pair(float low, float high) {
  static_assert(detail::is_small_float_v<To>,
                "convert_pair: the result is a pair of half_t, bfloat16_t or 8-bit floats");
  if constexpr (sizeof(To) == 2) {
    return bit_cast<array<To, 2>>(detail::bits_of_pair<To>(low, high));
  } else {
    const unsigned short pair = detail::fp8_pair_from_floats<To::format>(low, high);
    array<To, 2> result{};
    result[0].bits = static_cast<unsigned char>(pair & 0xffu);
    result[1].bits = static_cast<unsigned char>(pair >> 8);
    return result;
  }
}

}  // namespace tilewright
