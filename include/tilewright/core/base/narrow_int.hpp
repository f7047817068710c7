// SPDX-License-Identifier: MIT
// Signed and unsigned integers of 4 bits.
#pragma once

#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/index.hpp>

namespace tilewright {

/// An integer of 4 bits, two's complement if Signed, in the low bits of a byte; packed<> stores two in one. Conversion
/// from float rounds to nearest, ties to even, and saturates; NaN becomes 0.
template <bool Signed>
struct narrow_int {
  static constexpr index_t num_bits = 4;  ///< of a number
  unsigned char bits;                     ///< the number modulo 16

  narrow_int() = default;
  /// Rounds to nearest even; saturates.
  TILEWRIGHT_HD constexpr explicit narrow_int(float value) : bits(from_float(value)) {}
  /// Exact.
  TILEWRIGHT_HD constexpr operator float() const {
    return float(Signed ? int((bits ^ 8u) & 15u) - 8 : int(bits & 15u));
  }

 private:
  TILEWRIGHT_HD static constexpr unsigned char from_float(float value) {
    constexpr float least = Signed ? -8.0f : 0.0f, most = Signed ? 7.0f : 15.0f;
    if (value != value) return 0;
    const float inside = value < least ? least : value > most ? most : value;
    // Numbers around 1.5 * 2^23 are integers: the addition rounds, and the low bits of the sum are the result.
    return static_cast<unsigned char>(bit_cast<unsigned>(inside + 12582912.0f) & 15u);
  }
};

using int4_t = narrow_int<true>;    ///< -8 to 7
using uint4_t = narrow_int<false>;  ///< 0 to 15

}  // namespace tilewright
