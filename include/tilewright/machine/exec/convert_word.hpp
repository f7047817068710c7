// SPDX-License-Identifier: MIT
// Four 8-bit elements of a word as 16-bit floats, which have all of their values.
#pragma once

#include <tilewright/core/base/fp8.hpp>
#include <tilewright/machine/exec/gather_bytes.hpp>
#include <tilewright/machine/exec/half_pairs.hpp>

namespace tilewright {

namespace detail {

/// Integers: a float of 1024 + (x + 128), less 1152. bfloat16_t has 7 bits of mantissa: 128 + (x & 127), less 128, or
/// less 256 where x is negative; or by floats.
template <class To>
TILEWRIGHT_HD array<unsigned, 2> convert_int8_word(unsigned word) {
  array<unsigned, 2> result;
  TILEWRIGHT_UNROLL_ALL
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned spread = 2 * i | 4 << 4 | (2 * i + 1) << 8 | 4 << 12;
    if constexpr (__is_same(To, half_t)) {
      result[index_t(i)] =
          exec::subtract_halves<To>(exec::permute_bytes(word ^ 0x80808080u, 0x64646464u, spread), 0x64806480u);
    } else {
#if TILEWRIGHT_NVPTX_PASS
      const unsigned both = exec::permute_bytes(word, 0, spread);
      result[index_t(i)] = exec::subtract_halves<To>(exec::and_or(both, 0x007f007fu, 0x43004300u),
                                                     exec::and_or(both, 0x00800080u, 0x43004300u));
#else
      const auto number = [&](unsigned byte) TILEWRIGHT_INLINE_LAMBDA {
        return bit_cast<float>(exec::permute_bytes(word ^ 0x80808080u, 0x4b000000u, byte | 0x7440u)) -
               float(0x800000 + 128);
      };
      result[index_t(i)] = exec::pack_exact<To>(number(2 * i), number(2 * i + 1));
#endif
    }
  }
  return result;
}

/// 8-bit floats: on NVIDIA GPUs by the conversion of pairs to half_t.
template <class To, fp8_format F>
TILEWRIGHT_HD array<unsigned, 2> convert_fp8_word(unsigned word) {
  array<unsigned, 2> result;
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < 2; ++i) {
    const unsigned short pair = static_cast<unsigned short>(word >> 16 * i);
#if TILEWRIGHT_NVPTX_PASS && __CUDA_ARCH__ >= 890
    constexpr bool converts = __is_same(To, half_t) && !is_fnuz(F);
    if constexpr (converts && is_e4m3(F)) asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(result[i]) : "h"(pair));
    if constexpr (converts && !is_e4m3(F)) asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(result[i]) : "h"(pair));
#else
    constexpr bool converts = false;
#endif
    if constexpr (!converts) {
      const auto numbers = fp8_pair_to_floats<F>(pair);
      result[i] = exec::pack_exact<To>(numbers[0], numbers[1]);
    }
  }
  return result;
}

}  // namespace detail

namespace exec {

/// The four elements of type From in `word`, the first one in the lowest byte, as half_t or bfloat16_t: From is int8_t
/// or an 8-bit float. Exact; NaN stays NaN.
template <class To, class From>
TILEWRIGHT_HD array<unsigned, 2> convert_word(unsigned word) {
  static_assert(sizeof(From) == 1 && (__is_same(To, half_t) || __is_same(To, bfloat16_t)),
                "convert_word: from int8_t or an 8-bit float to half_t or bfloat16_t");
  if constexpr (__is_same(From, int8_t))
    return tilewright::detail::convert_int8_word<To>(word);
  else
    return tilewright::detail::convert_fp8_word<To, From::format>(word);
}

}  // namespace exec

}  // namespace tilewright
