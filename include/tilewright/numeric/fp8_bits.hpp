// SPDX-License-Identifier: MIT
// Conversions between float and the bit patterns of the 8-bit floating-point types.
#pragma once

#include <tilewright/numeric/bits.hpp>

namespace tilewright {

namespace detail {

/// What the 8 bits mean. e4m3 and e5m2 are the OCP types (OCP 8-bit Floating Point Specification 1.0; gfx950, gfx1201,
/// NVIDIA); the fnuz ones (gfx942) have neither infinities nor a negative zero, their only NaN is 0x80,
/// and their exponents are biased by one more.
enum class fp8_format : signed char { e4m3, e5m2, e4m3_fnuz, e5m2_fnuz };

/// Facts of a format: its family, its fields, its largest number and a NaN.
TILEWRIGHT_HD constexpr bool is_fnuz(fp8_format f) { return f == fp8_format::e4m3_fnuz || f == fp8_format::e5m2_fnuz; }
TILEWRIGHT_HD constexpr bool is_e4m3(fp8_format f) { return f == fp8_format::e4m3 || f == fp8_format::e4m3_fnuz; }
TILEWRIGHT_HD constexpr unsigned fp8_mantissa_bits(fp8_format f) { return is_e4m3(f) ? 3u : 2u; }
TILEWRIGHT_HD constexpr unsigned fp8_bias(fp8_format f) { return (is_e4m3(f) ? 7u : 15u) + (is_fnuz(f) ? 1u : 0u); }
/// The largest finite number: 448, 57344, 240, 57344.
TILEWRIGHT_HD constexpr unsigned fp8_max_bits(fp8_format f) {
  return is_fnuz(f) ? 0x7fu : f == fp8_format::e4m3 ? 0x7eu : 0x7bu;
}
TILEWRIGHT_HD constexpr unsigned fp8_nan_bits(fp8_format f) { return is_fnuz(f) ? 0x80u : 0x7fu; }
TILEWRIGHT_HD constexpr float fp8_max(fp8_format f) {
  return f == fp8_format::e4m3 ? 448.0f : f == fp8_format::e4m3_fnuz ? 240.0f : 57344.0f;
}

/// Rounds to nearest, ties to even; larger numbers and infinities become the largest finite number. NaN stays NaN; its
/// sign and payload are not kept.
template <fp8_format F>
TILEWRIGHT_HD constexpr unsigned char fp8_bits_from_float(float value) {
  constexpr unsigned mantissa_bits = fp8_mantissa_bits(F), bias = fp8_bias(F), max_bits = fp8_max_bits(F),
                     nan = fp8_nan_bits(F);
  constexpr unsigned dropped = 23u - mantissa_bits;      // mantissa bits of a float that a normal number loses
  constexpr unsigned least_exponent = 127u + 1u - bias;  // of a float that becomes a normal number
  const unsigned bits = bit_cast<unsigned>(value);
  const unsigned magnitude = bits & 0x7fffffffu, exponent = magnitude >> 23;
  if (magnitude > 0x7f800000u) return static_cast<unsigned char>(nan);
  const unsigned sign = bits >> 24 & 0x80u;
  unsigned rounded = 0;
  if (exponent >= least_exponent || dropped + least_exponent - exponent < 25u) {
    const bool normal = exponent >= least_exponent;
    const unsigned shift = normal ? dropped : dropped + least_exponent - exponent;
    const unsigned mantissa = normal ? magnitude - ((least_exponent - 1u) << 23) : (magnitude & 0x7fffffu) | 0x800000u;
    const unsigned half_way = 1u << (shift - 1u);
    rounded = (mantissa + half_way - 1u + (mantissa >> shift & 1u)) >> shift;
  }
  if (rounded > max_bits) rounded = max_bits;
  if (is_fnuz(F) && (rounded == 0)) return static_cast<unsigned char>(rounded);
  return static_cast<unsigned char>(sign | rounded);
}

/// Exact.
template <fp8_format F>
TILEWRIGHT_HD constexpr float float_from_fp8_bits(unsigned char value) {
  constexpr unsigned mantissa_bits = fp8_mantissa_bits(F), bias = fp8_bias(F), max_bits = fp8_max_bits(F);
  const unsigned sign = (value & 0x80u) << 24, magnitude = value & 0x7fu;
  if (is_fnuz(F) && value == 0x80u) return bit_cast<float>(0x7fc00000u);
  if (magnitude > max_bits)
    return bit_cast<float>(sign | (F == fp8_format::e5m2 && magnitude == 0x7cu ? 0x7f800000u : 0x7fc00000u));
  if (magnitude >> mantissa_bits != 0) {
    return bit_cast<float>(sign | ((magnitude << (23u - mantissa_bits)) + ((127u - bias) << 23)));
  }
  constexpr float least = bit_cast<float>((127u + 1u - bias - mantissa_bits) << 23);
  const float denormal = float(magnitude) * least;
  return bit_cast<float>(sign | bit_cast<unsigned>(denormal));
}

}  // namespace detail

}  // namespace tilewright
