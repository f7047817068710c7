// SPDX-License-Identifier: MIT
// Matrix instructions of Hopper GPUs: a warpgroup (four waves) multiplies operands that lie in LDS.
#pragma once

#include <tilewright/arch/current.hpp>
#include <tilewright/numeric/fp8.hpp>
#include <tilewright/numeric/types.hpp>

namespace tilewright::exec {
inline namespace nvptx {

TILEWRIGHT_HD void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TILEWRIGHT_HD void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <index_t Pending>
TILEWRIGHT_HD void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// Names of operands in an asm string, ten by ten, and accumulators as operands, eight by eight.
#define TILEWRIGHT_TEN(t) \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9"
#define TILEWRIGHT_30 TILEWRIGHT_TEN() ", " TILEWRIGHT_TEN(1) ", " TILEWRIGHT_TEN(2)
#define TILEWRIGHT_60 TILEWRIGHT_30 ", " TILEWRIGHT_TEN(3) ", " TILEWRIGHT_TEN(4) ", " TILEWRIGHT_TEN(5)
#define TILEWRIGHT_80 TILEWRIGHT_60 ", " TILEWRIGHT_TEN(6) ", " TILEWRIGHT_TEN(7)
#define TILEWRIGHT_90 TILEWRIGHT_80 ", " TILEWRIGHT_TEN(8)
#define TILEWRIGHT_F8(i)                                                                                      \
  "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), \
      "+f"(c[i + 7])
#define TILEWRIGHT_F32(i) TILEWRIGHT_F8(i), TILEWRIGHT_F8(i + 8), TILEWRIGHT_F8(i + 16), TILEWRIGHT_F8(i + 24)
#define TILEWRIGHT_WGMMA(shape, types, names, a, b, scale, transposes, ...)                                          \
  asm volatile("{.reg .pred add;\nsetp.ne.b32 add, " scale ", 0;\nwgmma.mma_async.sync.aligned." shape ".f32." types \
               " {" names "}, " a ", " b ", add, 1, 1" transposes ";}"                                               \
               : __VA_ARGS__                                                                                         \
               : "l"(a_descriptor), "l"(b_descriptor), "r"(int(accumulate)), "n"(int(TransposeA)),                   \
                 "n"(int(TransposeB)))
#define TILEWRIGHT_WGMMA_N(k, types, t)                                                                              \
  if constexpr (N == 256) {                                                                                          \
    TILEWRIGHT_WGMMA("m64n256" k, types,                                                                             \
                     TILEWRIGHT_90 ", " TILEWRIGHT_TEN(9) ", " TILEWRIGHT_TEN(10) ", " TILEWRIGHT_TEN(               \
                         11) ", %120, %121, %122, %123, %124, %125, %126, %127",                                     \
                     "%128", "%129", "%130", t("%131", "%132"), TILEWRIGHT_F32(0), TILEWRIGHT_F32(32),               \
                     TILEWRIGHT_F32(64), TILEWRIGHT_F32(96));                                                        \
  } else if constexpr (N == 192) {                                                                                   \
    TILEWRIGHT_WGMMA("m64n192" k, types, TILEWRIGHT_90 ", %90, %91, %92, %93, %94, %95", "%96", "%97", "%98",        \
                     t("%99", "%100"), TILEWRIGHT_F32(0), TILEWRIGHT_F32(32), TILEWRIGHT_F32(64));                   \
  } else if constexpr (N == 160) {                                                                                   \
    TILEWRIGHT_WGMMA("m64n160" k, types, TILEWRIGHT_80, "%80", "%81", "%82", t("%83", "%84"), TILEWRIGHT_F32(0),     \
                     TILEWRIGHT_F32(32), TILEWRIGHT_F8(64), TILEWRIGHT_F8(72));                                      \
  } else if constexpr (N == 128) {                                                                                   \
    TILEWRIGHT_WGMMA("m64n128" k, types, TILEWRIGHT_60 ", %60, %61, %62, %63", "%64", "%65", "%66", t("%67", "%68"), \
                     TILEWRIGHT_F32(0), TILEWRIGHT_F32(32));                                                         \
  } else {                                                                                                           \
    TILEWRIGHT_WGMMA("m64n64" k, types, TILEWRIGHT_30 ", %30, %31", "%32", "%33", "%34", t("%35", "%36"),            \
                     TILEWRIGHT_F32(0));                                                                             \
  }
#define TILEWRIGHT_TRANSPOSES(a, b) ", " a ", " b
#define TILEWRIGHT_NO_TRANSPOSES(a, b) ""

template <index_t N, class T, bool TransposeA, bool TransposeB>
TILEWRIGHT_HD void wgmma(float* c, unsigned long long a_descriptor, unsigned long long b_descriptor, bool accumulate) {
  static_assert(N == 64 || N == 128 || N == 160 || N == 192 || N == 256, "wgmma: n is 64, 128, 160, 192 or 256");
  if constexpr (__is_same(T, half_t)) {
    TILEWRIGHT_WGMMA_N("k16", "f16.f16", TILEWRIGHT_TRANSPOSES)
  } else if constexpr (__is_same(T, bfloat16_t)) {
    TILEWRIGHT_WGMMA_N("k16", "bf16.bf16", TILEWRIGHT_TRANSPOSES)
  } else {
    static_assert(__is_same(T, fp8_ocp_t), "wgmma: the operands are half_t, bfloat16_t or fp8_ocp_t");
    static_assert(!TransposeA && !TransposeB, "wgmma: operands of 8 bits cannot be transposed");
    TILEWRIGHT_WGMMA_N("k32", "e4m3.e4m3", TILEWRIGHT_NO_TRANSPOSES)
  }
}

#undef TILEWRIGHT_TEN
#undef TILEWRIGHT_30
#undef TILEWRIGHT_60
#undef TILEWRIGHT_80
#undef TILEWRIGHT_90
#undef TILEWRIGHT_F8
#undef TILEWRIGHT_F32
#undef TILEWRIGHT_WGMMA
#undef TILEWRIGHT_WGMMA_N
#undef TILEWRIGHT_TRANSPOSES
#undef TILEWRIGHT_NO_TRANSPOSES

}  // namespace nvptx
}  // namespace tilewright::exec
