// SPDX-License-Identifier: MIT
// Conversions of elements of 4 and 8 bits times a power of two, of targets that have them.
#pragma once

#include <tilewright/core/arch/matrix_element.hpp>

namespace tilewright::exec {

/// Whether the target converts two elements and scales them by one instruction: gfx950.
#if TILEWRIGHT_AMDGCN_PASS && defined(__gfx950__)
inline constexpr bool has_scaled_conversions = true;
#else
inline constexpr bool has_scaled_conversions = false;
#endif

/// Elements 2 Pair and 2 Pair + 1 of a word of E (e2m1, e4m3 or e5m2), times `scale`, a power of two or NaN, as two
/// half_t or bfloat16_t. For targets with has_scaled_conversions.
template <class T, arch::scaled_element E, index_t Pair>
TILEWRIGHT_HD unsigned convert_scaled([[maybe_unused]] unsigned word, [[maybe_unused]] float scale) {
  static_assert(Pair < 0 || has_scaled_conversions, "convert_scaled: this target has no such instructions");
#if TILEWRIGHT_AMDGCN_PASS && defined(__gfx950__)
  constexpr bool f16 = __is_same(T, half_t);
  if constexpr (E == arch::scaled_element::e2m1) {
    if constexpr (f16)
      return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_scalef32_pk_f16_fp4(word, scale, Pair));
    else
      return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_scalef32_pk_bf16_fp4(word, scale, Pair));
  } else if constexpr (E == arch::scaled_element::e4m3) {
    if constexpr (f16)
      return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_scalef32_pk_f16_fp8(word, scale, Pair));
    else
      return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_scalef32_pk_bf16_fp8(word, scale, Pair));
  } else {
    if constexpr (f16)
      return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_scalef32_pk_f16_bf8(word, scale, Pair));
    else
      return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_scalef32_pk_bf16_bf8(word, scale, Pair));
  }
#endif
  return 0;
}

}  // namespace tilewright::exec
