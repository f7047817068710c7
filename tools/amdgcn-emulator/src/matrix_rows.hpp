// SPDX-License-Identifier: MIT
// The sums of matrix instructions: rows of C in ascending k, every product and sum rounded to f32.
#pragma once

#include "fastest.hpp"
#include "matrix.hpp"

namespace emu::matrix {
/// G rows of M columns of C that are consecutive in memory, `step` rows apart. For n < count, element j of row g gains
/// a[n * stride + step * g] * b[n * stride + j]; with M = 4 the rows are of G blocks, and b begins 4 elements later for
/// each.
template <u32 M, u32 G, u32 Stride, u32 Step>
struct rows {
  static constexpr u32 m = M, g = G, stride = Stride, step = Step;
  static constexpr u32 b_of(u32 row) { return M == 4 ? 4 * row : 0; }
  const float *a, *b;
  u32 count;
  u32* c;
};
template <bool Fused, class Rows>
EMU_INLINE void add_products(const Rows& r) {
  constexpr u32 M = Rows::m;
  for (u32 g = 0; g < Rows::g; ++g) {
    float sum[M];
    std::memcpy(sum, r.c + g * M, sizeof sum);
    for (u32 n = 0; n < r.count; ++n) {
      const float x = r.a[n * Rows::stride + Rows::step * g], *b = r.b + n * Rows::stride + Rows::b_of(g);
      for (u32 j = 0; j < M; ++j) sum[j] = Fused ? std::fma(x, b[j], sum[j]) : sum[j] + x * b[j];
    }
    std::memcpy(r.c + g * M, sum, sizeof sum);
  }
}
#if defined(__x86_64__)
template <class Rows>
EMU_INLINE EMU_AVX2 void fuse_one_avx2(const float* a, const float* b, __m256* sum) {
  constexpr u32 M = Rows::m, step = Rows::step;
  if constexpr (M == 4) {
    EMU_UNROLL for (u32 n = 0; n < Rows::g / 2; ++n) {
      const __m128 low = _mm_broadcast_ss(a + step * 2 * n), high = _mm_broadcast_ss(a + step * (2 * n + 1));
      sum[n] = _mm256_fmadd_ps(_mm256_set_m128(high, low), _mm256_loadu_ps(b + 8 * n), sum[n]);
    }
  } else {
    constexpr u32 N = M / 8;
    __m256 v[N];
    EMU_UNROLL for (u32 n = 0; n < N; ++n) v[n] = _mm256_loadu_ps(b + 8 * n);
    EMU_UNROLL for (u32 g = 0; g < Rows::g; ++g) {
      const __m256 x = _mm256_broadcast_ss(a + step * g);
      EMU_UNROLL for (u32 n = 0; n < N; ++n) sum[g * N + n] = _mm256_fmadd_ps(x, v[n], sum[g * N + n]);
    }
  }
}
template <class Rows>
EMU_AVX2 inline void fuse_products_avx2(const Rows& r) {
  constexpr u32 sums = Rows::m * Rows::g / 8, stride = Rows::stride;
  __m256 sum[sums];
  float* const c = reinterpret_cast<float*>(r.c);
  EMU_UNROLL for (u32 n = 0; n < sums; ++n) sum[n] = _mm256_loadu_ps(c + 8 * n);
  const float *a = r.a, *b = r.b;
  u32 left = r.count;
  for (; left >= 4; left -= 4, a += 4 * stride, b += 4 * stride)
    EMU_UNROLL for (u32 n = 0; n < 4; ++n) fuse_one_avx2<Rows>(a + n * stride, b + n * stride, sum);
  for (; left; --left, a += stride, b += stride) fuse_one_avx2<Rows>(a, b, sum);
  EMU_UNROLL for (u32 n = 0; n < sums; ++n) _mm256_storeu_ps(c + 8 * n, sum[n]);
}
#endif

/// Elements of a and of b: `count` rows of `width`, `stride` apart.
struct factors {
  const float *a, *b;
  u32 count, width, stride;
};
/// Whether no product of an element of a and one of b leaves the range of f32's normal numbers. Those of up to 12 bits
/// each are exact then, and a fused sum rounds as a product and a sum do.
EMU_INLINE bool products_in_range(const factors& v) {
  u32 most[2] = {}, least[2] = {~0u, ~0u};
  for (int side = 0; side < 2; ++side) {
    const float* x = side ? v.b : v.a;
    u32 hi[16] = {}, lo[16];  // by column
    std::fill_n(lo, 16, ~0u);
    for (u32 n = 0; n < v.count; ++n, x += v.stride)
      for (u32 first = 0; first < v.width; first += 16)
        for (u32 j = 0; j < 16; ++j) {
          const u32 u = bits(x[first + j]) & 0x7fffffff, nonzero = u ? u : 0x3f800000u;
          hi[j] = hi[j] > nonzero ? hi[j] : nonzero, lo[j] = lo[j] < nonzero ? lo[j] : nonzero;
        }
    most[side] = *std::max_element(hi, hi + 16) >> 23, least[side] = *std::min_element(lo, lo + 16) >> 23;
  }
  return most[0] + most[1] < 127 + 254 && least[0] && least[1] && least[0] + least[1] > 127 + 1;
}
/// How sums round.
struct rounding {
  bool once;   // a product and a sum are one operation
  bool fuses;  // a fused operation gives the right bits
};
EMU_INLINE rounding rounding_of(type ta, type tb, const factors& v) {
  const auto small = [](type t) { return type_bits[t] <= 8 || t == t_f16; };
  const bool once = ta == t_f32;
  return {once, once || (small(ta) && small(tb)) || products_in_range(v)};
}
/// Avx2: of the copy for AVX2.
template <bool Avx2, class Rows>
EMU_INLINE void accumulate(const Rows& r, rounding how) {
#if defined(__x86_64__)
  if constexpr (Avx2)
    if (how.fuses) return fuse_products_avx2(r);
#endif
  how.once ? add_products<true>(r) : add_products<false>(r);
}
}  // namespace emu::matrix
