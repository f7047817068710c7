// SPDX-License-Identifier: MIT
// Byte permutes: parts of several registers to one register, to transpose 8- and 16-bit elements within a thread.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/math.hpp>

namespace tilewright::exec {

/// Byte number (selector >> 4 i & 7) of the eight bytes `low`, `high` for each byte i of the result.
TILEWRIGHT_HD unsigned permute_bytes(unsigned low, unsigned high, unsigned selector) {
#if TILEWRIGHT_NVPTX_PASS
  unsigned result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(selector));
  return result;
#elif TILEWRIGHT_AMDGCN_PASS
  // v_perm_b32: bytes 0-3 of its selector's numbers are those of the second operand, 4-7 of the first.
  const unsigned bytes = (selector & 7) | (selector & 0x70) << 4 | (selector & 0x700) << 8 | (selector & 0x7000) << 12;
  return __builtin_amdgcn_perm(high, low, bytes);
#else
  const unsigned long long bytes = low | static_cast<unsigned long long>(high) << 32;
  unsigned result = 0;
  for (index_t i = 0; i < 4; ++i) result |= unsigned(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
#endif
}

/// Byte number `numbers` >> 8 i & 7 of the eight bytes `low`, `high` for each byte i of the result: a table of eight
/// bytes, read four times. Bits 3 to 7 of each byte of `numbers` are 0.
TILEWRIGHT_HD unsigned look_up_bytes(unsigned low, unsigned high, unsigned numbers) {
#if TILEWRIGHT_AMDGCN_PASS
  return __builtin_amdgcn_perm(high, low, numbers);
#else
  return permute_bytes(low, high,
                       (numbers & 7) | (numbers >> 4 & 0x70) | (numbers >> 8 & 0x700) | (numbers >> 12 & 0x7000));
#endif
}

/// Byte number `byte` of each of four registers, the first one's lowest. On AMD GPUs that is three instructions, two of
/// which the compiler shares with the neighbouring byte where `byte` is a constant.
TILEWRIGHT_HD unsigned gather_bytes(unsigned w0, unsigned w1, unsigned w2, unsigned w3, index_t byte) {
#if TILEWRIGHT_AMDGCN_PASS
  // v_perm_b32: bytes 0-3 of its selector's numbers are those of the second operand, 4-7 of the first.
  const unsigned pairs = byte < 2 ? 0x05010400 : 0x07030602, half = byte % 2 == 0 ? 0x05040100 : 0x07060302;
  return __builtin_amdgcn_perm(__builtin_amdgcn_perm(w3, w2, pairs), __builtin_amdgcn_perm(w1, w0, pairs), half);
#elif TILEWRIGHT_NVPTX_PASS
  const unsigned two = unsigned(byte | (byte + 4) << 4);
  return permute_bytes(permute_bytes(w0, w1, two), permute_bytes(w2, w3, two), 0x5410);
#else
  const index_t shift = 8 * byte;
  return (w0 >> shift & 0xff) | (w1 >> shift & 0xff) << 8 | (w2 >> shift & 0xff) << 16 | (w3 >> shift & 0xff) << 24;
#endif
}

/// Half number `half` of each of two registers, the first one's lower.
TILEWRIGHT_HD unsigned gather_halves(unsigned w0, unsigned w1, index_t half) {
#if TILEWRIGHT_AMDGCN_PASS
  return __builtin_amdgcn_perm(w1, w0, half == 0 ? 0x05040100 : 0x07060302);
#elif TILEWRIGHT_NVPTX_PASS
  return permute_bytes(w0, w1, half == 0 ? 0x5410 : 0x7632);
#else
  return (w0 >> 16 * half & 0xffff) | (w1 >> 16 * half & 0xffff) << 16;
#endif
}

/// The bytes of `low`, then `high`, from byte `first` on: a multiple of Unit, less than the bytes of `low`.
template <index_t Unit, index_t Words>
TILEWRIGHT_HD array<unsigned, Words> shift_bytes(const array<unsigned, Words>& low, const array<unsigned, Words>& high,
                                                 index_t first) {
  array<unsigned, 2 * Words> all;
  TILEWRIGHT_UNROLL_ALL
  for (index_t w = 0; w < 2 * Words; ++w) all[w] = w < Words ? low[w] : high[w - Words];
  TILEWRIGHT_UNROLL_ALL
  for (index_t step = Words / 2; step > 0; step /= 2) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < Words + step; ++w) all[w] = (first & 4 * step) != 0 ? all[w + step] : all[w];
  }
  array<unsigned, Words> result;
  TILEWRIGHT_UNROLL_ALL
  for (index_t w = 0; w < Words; ++w) {
    const unsigned long long two = static_cast<unsigned long long>(all[w + 1]) << 32 | all[w];
    result[w] = Unit >= 4 ? all[w] : unsigned(two >> unsigned(modulo(first, 4) * 8));
  }
  return result;
}

}  // namespace tilewright::exec
