// SPDX-License-Identifier: MIT
// Shared by the matrix instructions: element types, and how an instruction states its shape.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "valu.hpp"

namespace emu::matrix {
enum type : u8 {
  t_f32,
  t_f16,
  t_bf16,
  t_i8,
  t_fp8,
  t_bf8,
  t_f64,
  t_xf32,
  t_fp6,
  t_bf6,
  t_fp4,
  t_u8,
  t_i4,
  t_u4,
  t_i32
};
constexpr u8 type_bits[] = {32, 16, 16, 8, 8, 8, 64, 32, 6, 6, 4, 8, 4, 4, 32};

struct shape {
  type a, b, out;
  u32 m, k, blocks;
  bool scaled, f8f6f4;
};
shape unpack(const inst& i);
u32 source(wave& w, const operand& o, u32 k, u32 lane);
void expand(type t, bool fnuz, bool flush_denorm, const u32* d, u32 n, float* out);  // one lane's packed operand
/// Rows of 64 elements.
using elements = float[128][64];
/// The row of element j of lane l, and its column: lanes hold `segment` values of k each before the next ones follow.
struct element_rows {
  u32 segment = 64, lane_groups = 1;  // lane_groups: of one block, which hold different k
  u16 lanes[8];                       // offset of eight lanes
  /// One row for each element, one column for each lane.
  element_rows() {
    for (u32 n = 0; n < 8; ++n) lanes[n] = static_cast<u16>(8 * n);
  }
  /// One row for each k, m columns for each block; lane l holds row or column l % m.
  element_rows(u32 m, u32 groups, u32 values) : segment(values), lane_groups(groups) {
    for (u32 n = 0, k = 0, block = 0; n < 8; ++n) {
      lanes[n] = static_cast<u16>(k * values * 64 + block + 8 * n % m);
      if ((8 * n + 8) % m == 0 && ++k == groups) k = 0, block += m < 8 ? 8 : m;
    }
  }
  u32 row(u32 j) const { return j < segment ? j : j / segment * lane_groups * segment + j % segment; }
  float& at(elements& e, u32 j, u32 l) const { return e[row(j)][lanes[l / 8] + l % 8]; }
};
#if defined(__x86_64__)
/// The floats of the low and of the high halves of n lanes, eight at each offset.
EMU_AVX2 inline void widen_halves(const u32* r, u32 n, const u16* offsets, float* low, float* high) {
  const __m256i sorted = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15,  //
                                          0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  _Pragma("GCC unroll 4") for (u32 l = 0; l < n; l += 8) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(r + l)),
                  halves = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(x, sorted), 0xd8);
    _mm256_storeu_ps(low + offsets[l / 8], _mm256_cvtph_ps(_mm256_castsi256_si128(halves)));
    _mm256_storeu_ps(high + offsets[l / 8], _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1)));
  }
}
#else
inline void widen_halves(const u32*, u32, const u16*, float*, float*) {}
#endif
/// f(lane, its offset in a row).
template <class F>
EMU_INLINE void each_element(const wave& w, const element_rows& at, F f) {
  for (u64 n = 0; n < w.lanes / 8; ++n)
    for (u64 l = 0; l < 8; ++l) f(8 * n + l, at.lanes[n] + l);
}
/// Avx2: of the copy for AVX2.
template <bool Avx2>
EMU_INLINE void unpack_operand(wave& w, const operand& o, type t, bool fnuz, bool flush_denorm, u32 per_lane,
                               const element_rows& at, elements& e) {
  const u32 regs = (per_lane * type_bits[t] + 31) / 32;
  if (o.kind == operand::vgpr && (t == t_f16 || t == t_bf16)) {
    const u32 exponent = t == t_f16 ? 0x7c00 : 0x7f80;
    for (u32 k = 0; k < regs; ++k) {
      u32 x[64];
      const u32* r = w.v(o.reg + k);
      if (flush_denorm) {
        each_lane(w, [&](u64 l) {
          x[l] = r[l] & (r[l] & exponent ? ~0u : 0xffff8000u) & (r[l] & exponent << 16 ? ~0u : 0x8000ffffu);
        });
        r = x;
      }
      float *low = e[at.row(2 * k)], *high = e[at.row(2 * k + 1)];
      if (Avx2 && t == t_f16)
        widen_halves(r, w.lanes, at.lanes, low, high);
      else if (t == t_f16)
        each_element(w, at, [&](u64 l, u64 x) {
          low[x] = f16_to_f32(static_cast<u16>(r[l])), high[x] = f16_to_f32(static_cast<u16>(r[l] >> 16));
        });
      else
        each_element(w, at, [&](u64 l, u64 x) { low[x] = as_f32(r[l] << 16), high[x] = as_f32(r[l] & 0xffff0000u); });
    }
    return;
  }
  if (o.kind == operand::vgpr && t == t_f32) {
    for (u32 k = 0; k < regs; ++k) {
      const u32* r = w.v(o.reg + k);
      float* row = e[at.row(k)];
      each_element(w, at, [&](u64 l, u64 x) { row[x] = as_f32(r[l]); });
    }
    return;
  }
  float x[64];
  for (u32 l = 0; l < w.lanes; ++l) {
    u32 d[9] = {};
    for (u32 k = 0; k < regs; ++k) d[k] = source(w, o, k, l);
    expand(t, fnuz, flush_denorm, d, per_lane, x);
    for (u32 j = 0; j < per_lane; ++j) at.at(e, j, l) = x[j];
  }
}
handler mfma();
handler wmma();
void wmma_gfx1250(wave& w, const inst& i);
}  // namespace emu::matrix
