// SPDX-License-Identifier: MIT
#include "common.hpp"
#define POPCOUNT(x) __builtin_popcount(x)
#define ALU(name, T, ...)                                                                                          \
  KERNEL void alu_##name(const int* A, const int* B, const int* C, const float* F, const float* G, const float* H, \
                         T* O) {                                                                                   \
    const int i = bid() * 256 + tid();                                                                             \
    const int a = A[i], b = B[i], c = C[i];                                                                        \
    const unsigned ua = a, ub = b, uc = c;                                                                         \
    const long la = (long)a << 20 ^ b, lb = (long)b << 17 ^ c;                                                     \
    const unsigned long ula = la, ulb = lb;                                                                        \
    const float f = F[i], g = G[i], h = H[i];                                                                      \
    const double d = (double)f * 1.25, e = (double)g + 0.5;                                                        \
    (void)c, (void)ua, (void)ub, (void)uc, (void)la, (void)lb, (void)ula, (void)ulb, (void)f, (void)g, (void)h,    \
        (void)d, (void)e;                                                                                          \
    O[i] = (T)(__VA_ARGS__);                                                                                       \
  }
#include "../alu.inc"
