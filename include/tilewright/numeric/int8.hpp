// SPDX-License-Identifier: MIT
// Conversions to 8-bit integers, which round and saturate.
#pragma once

#include <tilewright/numeric/bits.hpp>

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

}  // namespace tilewright
