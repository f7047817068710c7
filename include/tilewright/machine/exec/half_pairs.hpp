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
  return (x & mask) | bits;
#endif
}

/// The bits of two half_t or bfloat16_t, the first one lower, times those of two others; each rounds once.
template <class T>
TILEWRIGHT_HD unsigned multiply_halves(unsigned x, unsigned factor) {
#if TILEWRIGHT_NVPTX_PASS
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

/// x - y likewise; the same bits on every machine where the differences are numbers of T.
template <class T>
TILEWRIGHT_HD unsigned subtract_halves(unsigned x, unsigned y) {
#if TILEWRIGHT_NVPTX_PASS
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

}  // namespace tilewright::exec
