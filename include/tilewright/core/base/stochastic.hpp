// SPDX-License-Identifier: MIT
// Stochastic rounding: conversions from float whose mean is the value.
#pragma once

#include <tilewright/core/base/types.hpp>

namespace tilewright {

/// 32 bits that look random and depend on both: the same everywhere. No cipher.
TILEWRIGHT_HD constexpr unsigned random_bits(unsigned seed, unsigned counter) {
  // A bijection of each argument whose every bit depends on every bit of the input about as
  // often as not (C. Wellons, "lowbias32").
  unsigned x = seed * 0x9e3779b9u + counter;
  x ^= x >> 16;
  x *= 0x21f0aaadu;
  x ^= x >> 15;
  x *= 0x735a2d97u;
  return x ^ x >> 15;
}

namespace detail {

/// The magnitude of a finite float in a format with fewer bits, towards zero or away from it: away where random, out of
/// 2^32, is less than what is cut off, out of the distance to the next number. May exceed the format's largest number.
TILEWRIGHT_HD constexpr unsigned round_magnitude(unsigned magnitude, unsigned random, unsigned mantissa_bits,
                                                 unsigned bias) {
  const unsigned dropped = 23u - mantissa_bits, least_exponent = 128u - bias, exponent = magnitude >> 23;
  if (exponent >= least_exponent)
    return (magnitude - ((least_exponent - 1u) << 23) + (random >> (32u - dropped))) >> dropped;
  // Denormal numbers. What is less than 2^-32 of the least one is never rounded up.
  const unsigned shift = dropped + least_exponent - exponent;
  if (shift > 55u) return 0;
  const unsigned mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  if (shift <= 24u) return (mantissa + (random >> (32u - shift))) >> shift;
  const unsigned part = shift <= 32u ? mantissa << (32u - shift) : mantissa >> (shift - 32u);  // of 2^32
  return random + part < random ? 1u : 0u;
}

template <fp8_format F>
TILEWRIGHT_HD constexpr unsigned char fp8_bits_at_random(float value, unsigned random) {
  constexpr unsigned max_bits = fp8_max_bits(F), nan = fp8_nan_bits(F);
  const unsigned bits = bit_cast<unsigned>(value), magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
  if (magnitude > 0x7f800000u) return static_cast<unsigned char>(nan);
#if TILEWRIGHT_AMDGCN_PASS && __has_builtin(__builtin_amdgcn_cvt_sr_fp8_f32)
  // The instruction adds to the mantissa, as above; what it does to denormal results is not documented.
  if (!__builtin_is_constant_evaluated()) {
    if constexpr (is_fnuz(F) == machine_is_fnuz) {
      constexpr float limit = fp8_max(F);
      if (magnitude >= (128u - fp8_bias(F)) << 23) {
        const float clamped = __builtin_amdgcn_fmed3f(value, -limit, limit);
        if constexpr (is_e4m3(F))
          return static_cast<unsigned char>(__builtin_amdgcn_cvt_sr_fp8_f32(clamped, int(random), 0, 0));
        if constexpr (!is_e4m3(F))
          return static_cast<unsigned char>(__builtin_amdgcn_cvt_sr_bf8_f32(clamped, int(random), 0, 0));
      }
    }
  }
#endif
  unsigned rounded =
      magnitude == 0x7f800000u ? max_bits : round_magnitude(magnitude, random, fp8_mantissa_bits(F), fp8_bias(F));
  if (rounded > max_bits) rounded = max_bits;
  if (is_fnuz(F) && rounded == 0) return 0;
  return static_cast<unsigned char>(sign | rounded);
}

}  // namespace detail

/// One of the two numbers next to the value, the value itself if it is one: the upper with the probability
/// (value - lower) / (upper - lower), to 2^-16 at least, if all values of `random` are equally probable; so the mean of
/// many conversions is the value. The same result on every machine. To is half_t or bfloat16_t, which become infinite
/// as when they round to nearest, or one of the 8-bit types, which saturate at the largest number. NaN stays NaN.
template <class To>
TILEWRIGHT_HD constexpr To stochastic_round(float value, unsigned random) {
  static_assert(__is_same(To, half_t) || __is_same(To, bfloat16_t) || detail::is_fp8_v<To>,
                "stochastic_round: the result is half_t, bfloat16_t or an 8-bit floating-point type");
  if constexpr (detail::is_fp8_v<To>) {
    return bit_cast<To>(detail::fp8_bits_at_random<To::format>(value, random));
  } else {
    const unsigned bits = bit_cast<unsigned>(value), magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    if (magnitude >= 0x7f800000u) return To(value);
    if constexpr (__is_same(To, bfloat16_t)) {
      return bit_cast<To>(static_cast<unsigned short>(sign | (magnitude + (random >> 16)) >> 16));
    } else {
      const unsigned rounded = detail::round_magnitude(magnitude, random, 10u, 15u);
      return bit_cast<To>(static_cast<unsigned short>(sign | (rounded > 0x7c00u ? 0x7c00u : rounded)));
    }
  }
}

}  // namespace tilewright
