// SPDX-License-Identifier: MIT
// Rounding of floats to formats of a few bits, and back: what the 8-, 6- and 4-bit floating-point types share.
#pragma once

#include <tilewright/core/base/bits.hpp>

namespace tilewright::detail {

/// The magnitude (bits without the sign) of the number of a format that is nearest to a float of magnitude `magnitude`,
/// which is not NaN; ties to even, at most max_bits. Bias: of the exponent.
template <unsigned MantissaBits, unsigned Bias>
TILEWRIGHT_HD constexpr unsigned round_to_small_float(unsigned magnitude, unsigned max_bits) {
  constexpr unsigned dropped = 23u - MantissaBits;       // mantissa bits of a float that a normal number loses
  constexpr unsigned least_exponent = 127u + 1u - Bias;  // of a float that becomes a normal number
  const unsigned exponent = magnitude >> 23;
  unsigned rounded = 0;
  if (exponent >= least_exponent || dropped + least_exponent - exponent < 25u) {
    const bool normal = exponent >= least_exponent;
    const unsigned shift = normal ? dropped : dropped + least_exponent - exponent;
    const unsigned mantissa = normal ? magnitude - ((least_exponent - 1u) << 23) : (magnitude & 0x7fffffu) | 0x800000u;
    const unsigned half_way = 1u << (shift - 1u);
    rounded = (mantissa + half_way - 1u + (mantissa >> shift & 1u)) >> shift;
  }
  return rounded > max_bits ? max_bits : rounded;
}

/// The float of a finite magnitude, exactly.
template <unsigned MantissaBits, unsigned Bias>
TILEWRIGHT_HD constexpr float float_of_small_magnitude(unsigned magnitude) {
  if (magnitude >> MantissaBits != 0)
    return bit_cast<float>((magnitude << (23u - MantissaBits)) + ((127u - Bias) << 23));
  constexpr float least = bit_cast<float>((127u + 1u - Bias - MantissaBits) << 23);
  return float(magnitude) * least;
}

}  // namespace tilewright::detail
