// SPDX-License-Identifier: MIT
// Floating-point numbers of 4 and 6 bits, and power-of-two scales of 8 (OCP Microscaling Formats Specification 1.0).
#pragma once

#include <tilewright/core/base/index.hpp>
#include <tilewright/core/base/small_float.hpp>

namespace tilewright {

namespace detail {

/// How many bits of exponent and mantissa follow the sign. None has an infinity or a NaN.
enum class narrow_format : signed char { e2m1, e2m3, e3m2 };

TILEWRIGHT_HD constexpr unsigned exponent_bits(narrow_format f) { return f == narrow_format::e3m2 ? 3u : 2u; }
TILEWRIGHT_HD constexpr unsigned mantissa_bits(narrow_format f) {
  return f == narrow_format::e2m1 ? 1u : f == narrow_format::e2m3 ? 3u : 2u;
}

}  // namespace detail

/// A number of 4 or 6 bits in the low bits of a byte; packed<> stores several without gaps. Conversion from float
/// rounds to nearest, ties to even, and saturates at the largest number; NaN becomes the largest positive one, as PTX's
/// cvt does. Conversion to float is exact.
template <detail::narrow_format F>
struct narrow_float {
  static constexpr index_t num_bits = index_t(1u + detail::exponent_bits(F) + detail::mantissa_bits(F));  ///< 4 or 6
  unsigned char bits;  ///< sign, exponent, mantissa; higher bits are 0

  narrow_float() = default;
  /// Rounds to nearest even; saturates.
  TILEWRIGHT_HD constexpr explicit narrow_float(float value) : bits(from_float(value)) {}
  /// Exact.
  TILEWRIGHT_HD constexpr operator float() const {
    const float magnitude = detail::float_of_small_magnitude<mantissa, bias>(bits & max_bits);
    return (bits & (max_bits + 1)) != 0 ? -magnitude : magnitude;
  }

 private:
  static constexpr unsigned mantissa = detail::mantissa_bits(F), bias = (1u << (detail::exponent_bits(F) - 1)) - 1,
                            max_bits = (1u << (num_bits - 1)) - 1;
  TILEWRIGHT_HD static constexpr unsigned char from_float(float value) {
    const unsigned all = bit_cast<unsigned>(value), magnitude = all & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<unsigned char>(max_bits);
    return static_cast<unsigned char>(detail::round_to_small_float<mantissa, bias>(magnitude, max_bits) |
                                      (all >> 31) << (num_bits - 1));
  }
};

using fp4_e2m1_t = narrow_float<detail::narrow_format::e2m1>;  ///< 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives
using fp6_e2m3_t = narrow_float<detail::narrow_format::e2m3>;  ///< up to 7.5
using fp6_e3m2_t = narrow_float<detail::narrow_format::e3m2>;  ///< up to 28

/// A scale 2^(bits - 127), from 2^-127 to 2^127; 0xff is NaN. Conversion from float takes the nearest power of two of
/// the magnitude, the larger one of ties, and saturates; 0 becomes 2^-127, NaN stays NaN. Conversion to float is exact.
struct e8m0_t {
  unsigned char bits;  ///< the exponent, biased by 127

  e8m0_t() = default;
  /// Rounds to nearest; saturates.
  TILEWRIGHT_HD constexpr explicit e8m0_t(float value) : bits(round(value, 0x400000u)) {}
  /// The largest power of two that is not greater: the scale of the OCP specification.
  TILEWRIGHT_HD static constexpr e8m0_t floor(float value) { return from_bits(round(value, 0)); }
  /// The least power of two that is not less: elements divided by it never overflow.
  TILEWRIGHT_HD static constexpr e8m0_t ceil(float value) { return from_bits(round(value, 0x7fffffu)); }
  /// From an exponent that is biased by 127.
  TILEWRIGHT_HD static constexpr e8m0_t from_bits(unsigned char bits) {
    e8m0_t scale{};
    scale.bits = bits;
    return scale;
  }
  /// Exact.
  TILEWRIGHT_HD constexpr operator float() const {
    // 2^-127 is a denormal of float, with the bit that makes an infinity a NaN.
    return bit_cast<float>(unsigned(bits) << 23 | (((bits + 1u) & 0xfeu) == 0 ? 0x400000u : 0u));
  }

 private:
  /// `up`: what carries a mantissa into the exponent.
  TILEWRIGHT_HD static constexpr unsigned char round(float value, unsigned up) {
    const unsigned magnitude = bit_cast<unsigned>(value) & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0xff;
    // 2^-127 is a denormal of float: those from it on have this bit, and their next power of two is 2^-126.
    const unsigned code = magnitude < 0x800000u
                              ? (up == 0 ? 0 : unsigned(magnitude > (up == 0x400000u ? 0x5fffffu : 0x400000u)))
                              : (magnitude + up) >> 23;
    return static_cast<unsigned char>(code > 0xfe ? 0xfe : code);
  }
};

static_assert(sizeof(fp4_e2m1_t) == 1 && sizeof(e8m0_t) == 1);

}  // namespace tilewright
