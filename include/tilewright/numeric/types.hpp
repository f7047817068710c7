// SPDX-License-Identifier: MIT
// The 16-bit floating-point element types: IEEE half and bfloat16.
#pragma once

#include <tilewright/numeric/bits.hpp>

namespace tilewright {

#if defined(__CUDACC__) && !defined(__clang__)
/// IEEE 754 binary16. nvcc has no _Float16 in device code, so this type stores the bits and converts.
struct half_t {
  unsigned short bits;

  half_t() = default;
  TILEWRIGHT_HD constexpr explicit half_t(float value) : bits(half_bits_from_float(value)) {}
  TILEWRIGHT_HD constexpr operator float() const { return float_from_half_bits(bits); }
};
#else
/// IEEE 754 binary16.
using half_t = _Float16;
#endif

/// The upper half of an IEEE 754 binary32; conversion from float rounds to nearest, ties to even, and keeps NaN.
struct bfloat16_t {
  unsigned short bits;

  bfloat16_t() = default;
  TILEWRIGHT_HD constexpr explicit bfloat16_t(float value) : bits(bfloat16_bits_from_float(value)) {}
  TILEWRIGHT_HD constexpr operator float() const { return bit_cast<float>(unsigned(bits) << 16); }
};

static_assert(sizeof(half_t) == 2 && sizeof(bfloat16_t) == 2);

/// Conversion between element types, through float where neither is float.
template <class To, class From>
TILEWRIGHT_HD constexpr To type_convert(From value) {
  if constexpr (sizeof(To) == 2) {
    return To(float(value));
  } else {
    return To(value);
  }
}

}  // namespace tilewright
