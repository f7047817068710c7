// SPDX-License-Identifier: MIT
// Conversions between float and the bit patterns of 16-bit floating-point types, and reinterpretation of bits.
#pragma once

#include <tilewright/core/base/config.hpp>

namespace tilewright {

/// The bits of a value as another type of the same size.
template <class To, class From>
TILEWRIGHT_HD constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast: the types differ in size");
  return __builtin_bit_cast(To, from);
}

namespace detail {

/// Smaller than every number; its exponential is 0.
TILEWRIGHT_HD constexpr float minus_infinity() { return bit_cast<float>(0xff800000u); }

/// Round to nearest, ties to even; NaN stays NaN.
TILEWRIGHT_HD constexpr unsigned short bfloat16_bits_from_float(float value) {
  const unsigned bits = bit_cast<unsigned>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<unsigned short>(bits >> 16 | 0x40u);
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/// Round to nearest, ties to even; too large becomes infinity, too small a denormal; NaN stays NaN.
TILEWRIGHT_HD constexpr unsigned short half_bits_from_float(float value) {
#if TILEWRIGHT_NVPTX_PASS
  if (!__builtin_is_constant_evaluated()) {
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
  }
#endif
  const unsigned bits = bit_cast<unsigned>(value);
  const unsigned sign = bits >> 16 & 0x8000u;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);  // 65520 and more round to infinity
  if (magnitude < 0x33000001u) return static_cast<unsigned short>(sign);             // 2^-25 and less round to zero
  const bool normal = magnitude >= 0x38800000u;                                      // 2^-14
  const unsigned shift = normal ? 13u : 126u - (magnitude >> 23);
  const unsigned mantissa = normal ? magnitude - 0x38000000u : (magnitude & 0x7fffffu) | 0x800000u;
  const unsigned half_way = 1u << (shift - 1u);
  const unsigned rounded = (mantissa + half_way - 1u + (mantissa >> shift & 1u)) >> shift;
  return static_cast<unsigned short>(sign | rounded);
}

/// Exact.
TILEWRIGHT_HD constexpr float float_from_half_bits(unsigned short half) {
#if TILEWRIGHT_NVPTX_PASS
  if (!__builtin_is_constant_evaluated()) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
  }
#endif
  const unsigned sign = unsigned(half & 0x8000u) << 16;
  const unsigned magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x400u) return bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float denormal = float(magnitude) * 0x1p-24f;
  return sign ? -denormal : denormal;
}

}  // namespace detail

}  // namespace tilewright
