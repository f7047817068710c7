// SPDX-License-Identifier: MIT
// The sums of matrix instructions: rows of C in ascending k, every product and sum rounded to f32.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "fastest.hpp"
#include "matrix.hpp"

namespace emu::matrix {
/// c[row][j] += a[k][row] * b[k][j]; all have rows of M.
template <u32 M>
void multiply_rows(const float* a, const float* b, float* c, u32 k_count) {
  typedef float vec __attribute__((vector_size(16)));
  constexpr u32 N = M / 4;
  for (u32 row = 0; row < M; ++row) {
    vec sum[N];
    std::memcpy(sum, c + row * M, sizeof sum);
    for (u32 k = 0; k < k_count; ++k)
      for (u32 n = 0; n < N; ++n) {
        vec v;
        std::memcpy(&v, b + k * M + 4 * n, sizeof v);
        sum[n] += a[k * M + row] * v;
      }
    std::memcpy(c + row * M, sum, sizeof sum);
  }
}
/// The same with one rounding of each product and sum.
template <u32 M>
void fuse_rows(const float* a, const float* b, float* c, u32 k_count) {
  for (u32 row = 0; row < M; ++row)
    for (u32 k = 0; k < k_count; ++k)
      for (u32 j = 0; j < M; ++j) c[row * M + j] = std::fma(a[k * M + row], b[k * M + j], c[row * M + j]);
}
#if defined(__x86_64__)
template <u32 M>
EMU_AVX2 inline void fuse_rows_avx2(const float* a, const float* b, float* c, u32 k_count) {
  if constexpr (M == 4) {
    __m128 sum[4];
    for (u32 r = 0; r < 4; ++r) sum[r] = _mm_loadu_ps(c + r * M);
    for (u32 k = 0; k < k_count; ++k) {
      const __m128 v = _mm_loadu_ps(b + k * M);
      for (u32 r = 0; r < 4; ++r) sum[r] = _mm_fmadd_ps(_mm_set1_ps(a[k * M + r]), v, sum[r]);
    }
    for (u32 r = 0; r < 4; ++r) _mm_storeu_ps(c + r * M, sum[r]);
  } else {
    constexpr u32 N = M / 8, R = 8 / N;  // eight sums in registers
    for (u32 row = 0; row < M; row += R) {
      __m256 sum[R][N];
      for (u32 r = 0; r < R; ++r)
        for (u32 n = 0; n < N; ++n) sum[r][n] = _mm256_loadu_ps(c + (row + r) * M + 8 * n);
      for (u32 k = 0; k < k_count; ++k) {
        __m256 v[N];
        for (u32 n = 0; n < N; ++n) v[n] = _mm256_loadu_ps(b + k * M + 8 * n);
        for (u32 r = 0; r < R; ++r) {
          const __m256 x = _mm256_broadcast_ss(a + k * M + row + r);
          for (u32 n = 0; n < N; ++n) sum[r][n] = _mm256_fmadd_ps(x, v[n], sum[r][n]);
        }
      }
      for (u32 r = 0; r < R; ++r)
        for (u32 n = 0; n < N; ++n) _mm256_storeu_ps(c + (row + r) * M + 8 * n, sum[r][n]);
    }
  }
}
#endif

/// Whether no product of an element of a and one of b leaves the range of f32's normal numbers. Those of up to 12 bits
/// each are exact then, and a fused sum rounds as a product and a sum do.
EMU_INLINE bool products_in_range(const float* a, const float* b, u32 count) {
  u32 most[2] = {}, least[2] = {~0u, ~0u};
  for (int side = 0; side < 2; ++side) {
    const float* x = side ? b : a;
    u32 hi = 0, lo = ~0u;
    for (u32 n = 0; n < count; ++n) {
      const u32 u = bits(x[n]) & 0x7fffffff, nonzero = u ? u : 0x3f800000u;
      hi = hi > nonzero ? hi : nonzero, lo = lo < nonzero ? lo : nonzero;
    }
    most[side] = hi >> 23, least[side] = lo >> 23;
  }
  return most[0] + most[1] < 127 + 254 && least[0] && least[1] && least[0] + least[1] > 127 + 1;
}
/// Sums for elements of these types. Avx2: of the copy for AVX2.
template <u32 M, bool Avx2>
EMU_INLINE void accumulate(type ta, type tb, const float* a, const float* b, float* c, u32 k_count) {
  const auto small = [](type t) { return type_bits[t] <= 8 || t == t_f16; };
  const bool fused = ta == t_f32;
#if defined(__x86_64__)
  if constexpr (Avx2)
    if (fused || (small(ta) && small(tb)) || products_in_range(a, b, k_count * M))
      return fuse_rows_avx2<M>(a, b, c, k_count);
#endif
  (void)small;
  fused ? fuse_rows<M>(a, b, c, k_count) : multiply_rows<M>(a, b, c, k_count);
}
}  // namespace emu::matrix
