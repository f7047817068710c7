// SPDX-License-Identifier: MIT
// C[M,N] = A[M,K] * B[N,K]^T by MFMA / WMMA. TYPE: 0 f16, 1 bf16, 2 fp8, 3 i8. BIG: 32x32 MFMA.
#include "common.hpp"
#define TILE 64
#define TK 64
#if TYPE <= 1
typedef u16 elem;
#else
typedef u8 elem;
#endif
#if TYPE == 3
typedef int out_t;
#else
typedef float out_t;
#endif
#define PASTE(a, b, c) a##b##c
#if WAVE == 64
#ifdef BIG
#define MI 32
typedef VEC(out_t, 16) acc;
#else
#define MI 16
typedef VEC(out_t, 4) acc;
#endif
#if TYPE == 0 && defined(__gfx950__)
typedef half8 frag;
#ifdef BIG
#define KI 16
#define MMA __builtin_amdgcn_mfma_f32_32x32x16_f16
#else
#define KI 32
#define MMA __builtin_amdgcn_mfma_f32_16x16x32_f16
#endif
#elif TYPE == 0
typedef half4 frag;
#ifdef BIG
#define KI 8
#define MMA __builtin_amdgcn_mfma_f32_32x32x8f16
#else
#define KI 16
#define MMA __builtin_amdgcn_mfma_f32_16x16x16f16
#endif
#elif TYPE == 1 && defined(__gfx950__)
typedef bf8v frag;
#ifdef BIG
#define KI 16
#define MMA __builtin_amdgcn_mfma_f32_32x32x16_bf16
#else
#define KI 32
#define MMA __builtin_amdgcn_mfma_f32_16x16x32_bf16
#endif
#elif TYPE == 1
typedef short4v frag;
#ifdef BIG
#define KI 8
#define MMA __builtin_amdgcn_mfma_f32_32x32x8bf16_1k
#else
#define KI 16
#define MMA __builtin_amdgcn_mfma_f32_16x16x16bf16_1k
#endif
#elif TYPE == 2
typedef long frag;
#ifdef BIG
#define KI 16
#define MMA __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8
#else
#define KI 32
#define MMA __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8
#endif
#elif defined(__gfx90a__)
typedef int frag;
#ifdef BIG
#define KI 8
#define MMA __builtin_amdgcn_mfma_i32_32x32x8i8
#else
#define KI 16
#define MMA __builtin_amdgcn_mfma_i32_16x16x16i8
#endif
#else
typedef long frag;
#ifdef BIG
#define KI 16
#define MMA __builtin_amdgcn_mfma_i32_32x32x16_i8
#else
#define KI 32
#define MMA __builtin_amdgcn_mfma_i32_16x16x32_i8
#endif
#endif
#define NACC (MI * MI / 64)
#define LOAD_K(l) ((l) / MI * (KI * MI / 64))
DEVICE acc mma(frag a, frag b, acc c) { return MMA(a, b, c, 0, 0, 0); }
DEVICE int acc_row(int l, int r) { return MI == 32 ? 8 * (r / 4) + 4 * (l / 32) + r % 4 : 4 * (l / 16) + r; }
#else
#define MI 16
#define KI 16
#define NACC 8
typedef VEC(out_t, 8) acc;
#if defined(__GFX11__)
#define LOAD_K(l) 0
DEVICE int acc_row(int l, int r) { return 2 * r + l / 16; }
#if TYPE == 0
typedef half16 frag;
DEVICE acc mma(frag a, frag b, acc c) { return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c); }
#elif TYPE == 1
typedef short16v frag;
DEVICE acc mma(frag a, frag b, acc c) { return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c); }
#elif TYPE == 3
typedef int4v frag;
DEVICE acc mma(frag a, frag b, acc c) { return __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a, true, b, c, false); }
#endif
#else
#define LOAD_K(l) ((l) / 16 * 8)
DEVICE int acc_row(int l, int r) { return 8 * (l / 16) + r; }
#if TYPE == 0
typedef half8 frag;
DEVICE acc mma(frag a, frag b, acc c) { return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c); }
#elif TYPE == 1
typedef short8v frag;
DEVICE acc mma(frag a, frag b, acc c) { return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, c); }
#elif TYPE == 2
typedef int2v frag;
DEVICE acc mma(frag a, frag b, acc c) { return __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(a, b, c); }
#elif TYPE == 3
typedef int2v frag;
DEVICE acc mma(frag a, frag b, acc c) {
  return __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, a, true, b, c, false);
}
#endif
#endif
#endif
#define ROW (TK + 16 / sizeof(elem))
#define T (4 * WAVE)
#define NI (32 / MI)
DEVICE frag load_frag(const elem* p, int l) {
  frag f;
  __builtin_memcpy(&f, __builtin_assume_aligned(p + (l % MI) * ROW + LOAD_K(l), sizeof(frag) < 8 ? 4 : 8), sizeof f);
  return f;
}
KERNEL WORKGROUP(T) void gemm(const elem* A, const elem* B, out_t* C, int M, int N, int K) {
  SHARED __attribute__((aligned(16))) static elem sa[TILE * ROW];
  SHARED __attribute__((aligned(16))) static elem sb[TILE * ROW];
  const int t = tid(), l = lane(), w = t / WAVE, m0 = __builtin_amdgcn_workgroup_id_y() * TILE, n0 = bid() * TILE,
            wm = w / 2 * 32, wn = w % 2 * 32;
  constexpr int V = 16 / sizeof(elem);
  acc c[NI][NI];
  for (int i = 0; i < NI; ++i)
    for (int j = 0; j < NI; ++j)
      for (int r = 0; r < NACC; ++r) c[i][j][r] = 0;
  for (int k0 = 0; k0 < K; k0 += TK) {
    for (int i = t; i < TILE * TK / V; i += T) {
      const int r = i / (TK / V), k = i % (TK / V) * V;
      *(u32x4*)(sa + r * ROW + k) = *(const u32x4*)(A + (long)(m0 + r) * K + k0 + k);
      *(u32x4*)(sb + r * ROW + k) = *(const u32x4*)(B + (long)(n0 + r) * K + k0 + k);
    }
    barrier();
#pragma unroll
    for (int k = 0; k < TK; k += KI) {
      frag a[NI], b[NI];
      for (int i = 0; i < NI; ++i)
        a[i] = load_frag(sa + (wm + i * MI) * ROW + k, l), b[i] = load_frag(sb + (wn + i * MI) * ROW + k, l);
      for (int i = 0; i < NI; ++i)
        for (int j = 0; j < NI; ++j) c[i][j] = mma(a[i], b[j], c[i][j]);
    }
    barrier();
  }
  for (int i = 0; i < NI; ++i)
    for (int j = 0; j < NI; ++j)
      for (int r = 0; r < NACC; ++r)
        C[(long)(m0 + wm + i * MI + acc_row(l, r)) * N + n0 + wn + j * MI + l % MI] = c[i][j][r];
}
