// SPDX-License-Identifier: MIT
// Four 8-bit elements of a word as 16-bit floats, which have all of their values.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/types.hpp>

namespace tilewright {

namespace detail {

#if TILEWRIGHT_NVPTX_PASS
/// Bytes of a and b, by the four hexadecimal digits of `selector`, the lowest byte first.
TILEWRIGHT_HD unsigned select_bytes(unsigned a, unsigned b, unsigned selector) {
  unsigned result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
}

/// Integers: a float of 1024 + (x + 128), less 1152; for bfloat16_t, with 7 bits of mantissa, 128 + (x & 127) less 128,
/// or less 256 where x is negative.
template <class To>
TILEWRIGHT_HD array<unsigned, 2> convert_int8_word(unsigned word) {
  array<unsigned, 2> result;
  for (index_t i = 0; i < 2; ++i) {
    if constexpr (__is_same(To, half_t)) {
      const unsigned shifted = select_bytes(word ^ 0x80808080u, 0x64646464u, i == 0 ? 0x4140u : 0x4342u);
      asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(result[i]) : "r"(shifted), "r"(0x64806480u));
    } else {
      const unsigned spread = select_bytes(word, 0, i == 0 ? 0x4140u : 0x4342u);
      asm("fma.rn.bf16x2 %0, %1, %2, %3;"
          : "=r"(result[i])
          : "r"((spread & 0x00800080u) | 0x43004300u), "r"(0xbf80bf80u), "r"((spread & 0x007f007fu) | 0x43004300u));
    }
  }
  return result;
}

#if __CUDA_ARCH__ >= 890
/// 8-bit floats, by the conversion of pairs to half_t.
template <class To, fp8_format F>
TILEWRIGHT_HD array<unsigned, 2> convert_fp8_word(unsigned word) {
  array<unsigned, 2> result;
  for (index_t i = 0; i < 2; ++i) {
    const unsigned short pair = static_cast<unsigned short>(word >> 16 * i);
    if constexpr (is_e4m3(F)) asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(result[i]) : "h"(pair));
    if constexpr (!is_e4m3(F)) asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(result[i]) : "h"(pair));
    if constexpr (__is_same(To, bfloat16_t))
      result[i] = bits_of_pair<To>(float_from_half_bits(static_cast<unsigned short>(result[i])),
                                   float_from_half_bits(static_cast<unsigned short>(result[i] >> 16)));
  }
  return result;
}
#endif
#endif

}  // namespace detail

/// The four elements of type From in `word`, the first one in the lowest byte, as half_t or bfloat16_t: From is int8_t
/// or an 8-bit float. Exact; NaN stays NaN.
template <class To, class From>
TILEWRIGHT_HD constexpr array<unsigned, 2> convert_word(unsigned word) {
  static_assert(sizeof(From) == 1 && (__is_same(To, half_t) || __is_same(To, bfloat16_t)),
                "convert_word: from int8_t or an 8-bit float to half_t or bfloat16_t");
#if TILEWRIGHT_NVPTX_PASS
  if (!__builtin_is_constant_evaluated()) {
    if constexpr (__is_same(From, int8_t)) return detail::convert_int8_word<To>(word);
#if __CUDA_ARCH__ >= 890
    if constexpr (detail::is_fp8_v<From>) {
      if constexpr (!detail::is_fnuz(From::format)) return detail::convert_fp8_word<To, From::format>(word);
    }
#endif
  }
#endif
  const auto as_float = [word](index_t i) {
    return float(bit_cast<From>(static_cast<unsigned char>(word >> 8 * i & 0xffu)));
  };
  return {{detail::bits_of_pair<To>(as_float(0), as_float(1)), detail::bits_of_pair<To>(as_float(2), as_float(3))}};
}

}  // namespace tilewright
