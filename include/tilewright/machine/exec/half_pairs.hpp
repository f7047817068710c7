// SPDX-License-Identifier: MIT
// Arithmetic on two 16-bit floats in a register, and the bit operation that makes them.
#pragma once

#include <tilewright/core/base/types.hpp>

namespace tilewright::exec {

/// (x & mask) | bits. One instruction, even where mask and bits are constants, of which an instruction holds one only.
TILEWRIGHT_HD unsigned and_or(unsigned x, unsigned mask, unsigned bits) {
#if TILEWRIGHT_NVPTX_PASS
  unsigned result;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(x), "r"(mask), "r"(bits));
  return result;
#else
#if TILEWRIGHT_AMDGCN_PASS && defined(__GFX9__)
  if (__builtin_constant_p(bits)) asm("" : "+v"(bits));  // v_and_or_b32 takes one scalar and no literal
#endif
  return (x & mask) | bits;
#endif
}

#if TILEWRIGHT_AMDGCN_PASS
namespace detail {

using half_pair __attribute__((ext_vector_type(2))) = _Float16;
using float_pair __attribute__((ext_vector_type(2))) = float;

TILEWRIGHT_HD float_pair floats_of_bfloats(unsigned x) {
  return {__builtin_bit_cast(float, x << 16), __builtin_bit_cast(float, x & 0xffff0000u)};
}
/// The upper halves: numbers of bfloat16_t.
TILEWRIGHT_HD unsigned exact_bfloats(float_pair x) {
  const float low = x[0], high = x[1];  // clang 22 casts the bits of element 0 where it is given an element
  return __builtin_amdgcn_perm(__builtin_bit_cast(unsigned, high), __builtin_bit_cast(unsigned, low), 0x07060302);
}
/// To nearest even. A NaN whose lower half is 0, as that of a product of numbers of bfloat16_t, stays one.
TILEWRIGHT_HD unsigned round_to_bfloats(float_pair x) {
#if defined(__gfx950__)
  return tilewright::detail::bits_of_pair<bfloat16_t>(x[0], x[1]);
#else
  const auto rounded = [](float x) TILEWRIGHT_INLINE_LAMBDA {
    const unsigned bits = __builtin_bit_cast(unsigned, x);
    return __builtin_bit_cast(float, bits + 0x7fffu + (bits >> 16 & 1u));
  };
  return exact_bfloats(float_pair{rounded(x[0]), rounded(x[1])});
#endif
}

}  // namespace detail
#endif

/// The bits of two floats that are numbers of T, infinite or NaN.
template <class T>
TILEWRIGHT_HD unsigned pack_exact(float low, float high) {
#if TILEWRIGHT_AMDGCN_PASS
  if constexpr (__is_same(T, half_t)) return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(low, high));
  return detail::exact_bfloats({low, high});
#else
  return bit_cast<unsigned>(convert_pair<T>(low, high));
#endif
}

/// The bits of two half_t or bfloat16_t, the first one lower, times those of two others; each rounds once. IsExact: the
/// products are numbers of T, infinite or NaN, for which some targets need fewer instructions.
template <class T, bool IsExact = false>
TILEWRIGHT_HD unsigned multiply_halves(unsigned x, unsigned factor) {
#if TILEWRIGHT_AMDGCN_PASS
  if constexpr (__is_same(T, half_t)) {
    return __builtin_bit_cast(unsigned,
                              __builtin_bit_cast(detail::half_pair, x) * __builtin_bit_cast(detail::half_pair, factor));
  } else {
    const detail::float_pair products = detail::floats_of_bfloats(x) * detail::floats_of_bfloats(factor);
    return IsExact ? detail::exact_bfloats(products) : detail::round_to_bfloats(products);
  }
#elif TILEWRIGHT_NVPTX_PASS
  unsigned result;
  if constexpr (__is_same(T, half_t)) {
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(x), "r"(factor));
  } else {  // sm_80 has only fma; -0 leaves the product's sign
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(factor), "r"(0x80008000u));
  }
  return result;
#else
  const auto a = bit_cast<array<T, 2>>(x), b = bit_cast<array<T, 2>>(factor);
  return bit_cast<unsigned>(convert_pair<T>(float(a[0]) * float(b[0]), float(a[1]) * float(b[1])));
#endif
}

/// x - y likewise, for differences that are numbers of T.
template <class T>
TILEWRIGHT_HD unsigned subtract_halves(unsigned x, unsigned y) {
#if TILEWRIGHT_AMDGCN_PASS
  if constexpr (__is_same(T, half_t)) {
    return __builtin_bit_cast(unsigned,
                              __builtin_bit_cast(detail::half_pair, x) - __builtin_bit_cast(detail::half_pair, y));
  } else {
    return detail::exact_bfloats(detail::floats_of_bfloats(x) - detail::floats_of_bfloats(y));
  }
#elif TILEWRIGHT_NVPTX_PASS
  unsigned result;
  if constexpr (__is_same(T, half_t)) {
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(x), "r"(y));
  } else {
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(y), "r"(0xbf80bf80u), "r"(x));
  }
  return result;
#else
  const auto a = bit_cast<array<T, 2>>(x), b = bit_cast<array<T, 2>>(y);
  return bit_cast<unsigned>(convert_pair<T>(float(a[0]) - float(b[0]), float(a[1]) - float(b[1])));
#endif
}

/// x factor + addend likewise, for results that are numbers of T.
template <class T>
TILEWRIGHT_HD unsigned multiply_add_halves(unsigned x, unsigned factor, unsigned addend) {
#if TILEWRIGHT_NVPTX_PASS
  unsigned result;
  if constexpr (__is_same(T, half_t)) {
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(factor), "r"(addend));
  } else {
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(factor), "r"(addend));
  }
  return result;
#else
  const auto a = bit_cast<array<T, 2>>(x), b = bit_cast<array<T, 2>>(factor), c = bit_cast<array<T, 2>>(addend);
  return bit_cast<unsigned>(
      convert_pair<T>(float(a[0]) * float(b[0]) + float(c[0]), float(a[1]) * float(b[1]) + float(c[1])));
#endif
}

/// Four pairs of bfloat16_t, in each of them the first one lower: for each byte of `low` and the same of `high`, as
/// integers, the difference to `less` times `factor`, rounded once. Differences and factor are numbers of bfloat16_t.
TILEWRIGHT_HD array<unsigned, 4> scale_bytes(unsigned low, unsigned high, float less, float factor) {
#if TILEWRIGHT_AMDGCN_PASS
  asm("" : "+v"(low), "+v"(high));  // so that bytes are converted where they are
#endif
  array<unsigned, 4> pairs;
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < 4; ++i) {
    const float x = float(low >> 8 * i & 255), y = float(high >> 8 * i & 255);
#if TILEWRIGHT_AMDGCN_PASS
    pairs[i] = detail::round_to_bfloats((detail::float_pair{x, y} - less) * factor);
#else
    pairs[i] = bit_cast<unsigned>(convert_pair<bfloat16_t>((x - less) * factor, (y - less) * factor));
#endif
  }
  return pairs;
}

}  // namespace tilewright::exec
