// SPDX-License-Identifier: MIT
// Converts two floats at once: fewer instructions on machines that write both halves of a register.
#pragma once

#include <tilewright/numeric/types.hpp>
#include <tilewright/util/array.hpp>

namespace tilewright {

namespace detail {

/// The bits of two 16-bit floats, the first one below.
template <class To>
TILEWRIGHT_HD constexpr unsigned bits_of_pair(float low, float high) {
#if TILEWRIGHT_AMDGCN_PASS && (defined(__gfx942__) || defined(__gfx90a__))
  if (!__builtin_is_constant_evaluated() && __is_same(To, half_t)) {
    // Products with a one that the compiler cannot see become v_fma_mixlo_f16 and v_fma_mixhi_f16: nothing to pack. It
    // must not see two products alike either, which it would compute by one packed product.
    float one = 1.0f;
    asm("" : "+s"(one));
    _Float16 lower = _Float16(low * one);
    asm("" : "+v"(lower));
    using pair __attribute__((ext_vector_type(2))) = _Float16;
    return __builtin_bit_cast(unsigned, pair{lower, _Float16(high * one)});
  }
#elif TILEWRIGHT_AMDGCN_PASS && defined(__gfx950__)
  if (!__builtin_is_constant_evaluated()) {
    using floats __attribute__((ext_vector_type(2))) = float;
    using pair __attribute__((ext_vector_type(2))) = conditional_t<__is_same(To, half_t), _Float16, __bf16>;
    return __builtin_bit_cast(unsigned, __builtin_convertvector((floats{low, high}), pair));
  }
#elif TILEWRIGHT_NVPTX_PASS
  if (!__builtin_is_constant_evaluated()) {
    unsigned pair;
    if constexpr (__is_same(To, half_t)) {
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    } else {
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    }
    return pair;
  }
#endif
  return unsigned(bit_cast<unsigned short>(To(low))) | unsigned(bit_cast<unsigned short>(To(high))) << 16;
}

}  // namespace detail

/// Two floats as half_t, bfloat16_t or 8-bit floats, rounded and saturated as type_convert does.
template <class To>
TILEWRIGHT_HD constexpr array<To, 2> convert_pair(float low, float high) {
  static_assert(detail::is_small_float_v<To>,
                "convert_pair: the result is a pair of half_t, bfloat16_t or 8-bit floats");
  if constexpr (sizeof(To) == 2) {
    return bit_cast<array<To, 2>>(detail::bits_of_pair<To>(low, high));
  } else {
    const unsigned short pair = detail::fp8_pair_from_floats<To::format>(low, high);
    array<To, 2> result{};
    result[0].bits = static_cast<unsigned char>(pair & 0xffu);
    result[1].bits = static_cast<unsigned char>(pair >> 8);
    return result;
  }
}

}  // namespace tilewright
