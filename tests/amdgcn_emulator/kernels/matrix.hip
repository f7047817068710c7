// SPDX-License-Identifier: MIT
#include "common.hpp"
typedef VEC(float, 2) v2f;
typedef VEC(float, 4) v4f;
typedef VEC(float, 8) v8f;
typedef VEC(float, 16) v16f;
typedef VEC(float, 32) v32f;
typedef VEC(half, 4) v4h;
typedef VEC(half, 8) v8h;
typedef VEC(half, 16) v16h;
typedef VEC(short, 2) v2s;
typedef VEC(short, 4) v4s;
typedef VEC(short, 8) v8s;
typedef VEC(short, 16) v16s;
typedef VEC(__bf16, 8) v8b;
typedef VEC(__bf16, 16) v16b;
typedef VEC(int, 2) v2i;
typedef VEC(int, 4) v4i;
typedef VEC(int, 8) v8i;
typedef VEC(int, 16) v16i;
typedef VEC(int, 32) v32i;
typedef VEC(double, 4) v4d;
#if defined(__gfx90a__)
#define ON_gfx90a
#elif defined(__gfx942__)
#define ON_gfx942
#elif defined(__gfx950__)
#define ON_gfx950
#elif defined(__gfx1100__)
#define ON_gfx1100
#elif defined(__gfx1250__)
#define ON_gfx1250
#else
#define ON_gfx1201
#endif
#define MAT(name, builtin, TA, TB, TC, M, K, N, ka, kb, kc, ...)                                          \
  KERNEL void matrix_##name(const TA* A, const TB* B, const TC* C, TC* D, const int* XA, const int* XB) { \
    const int l = tid();                                                                                  \
    const TA a = A[l];                                                                                    \
    const TB b = B[l];                                                                                    \
    const TC c = C[l];                                                                                    \
    D[l] = builtin(__VA_ARGS__);                                                                          \
  }
#include "../matrix.inc"
