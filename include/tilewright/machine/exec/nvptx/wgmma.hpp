// SPDX-License-Identifier: MIT
// Matrix instructions of Hopper GPUs: a warpgroup (four waves) multiplies operands in LDS, or A in registers.
#pragma once

#include <tilewright/core/arch/current.hpp>
#include <tilewright/core/base/fp8.hpp>
#include <tilewright/core/base/types.hpp>

namespace tilewright::exec::inline nvptx {

TILEWRIGHT_HD void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TILEWRIGHT_HD void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <index_t Pending>
TILEWRIGHT_HD void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

namespace detail {

/// The parts of the instruction's text that depend on the elements and on which operands are transposed.
template <class T>
struct wgmma_types {
  static_assert(__is_same(T, fp8_ocp_t), "wgmma: the operands are half_t, bfloat16_t or fp8_ocp_t");
  static constexpr char text[] = "k32.f32.e4m3.e4m3";
};
template <>
struct wgmma_types<half_t> {
  static constexpr char text[] = "k16.f32.f16.f16";
};
template <>
struct wgmma_types<bfloat16_t> {
  static constexpr char text[] = "k16.f32.bf16.bf16";
};
template <class T, bool TransposeA, bool TransposeB>
struct transposes {
  static constexpr char text[] = {',', ' ', TransposeA ? '1' : '0', ',', ' ', TransposeB ? '1' : '0', 0};
};
template <bool TransposeA, bool TransposeB>
struct transposes<fp8_ocp_t, TransposeA, TransposeB> {
  static_assert(!TransposeA && !TransposeB, "wgmma: operands of 8 bits cannot be transposed");
  static constexpr char text[] = "";
};
template <class T, bool TransposeB>
struct transposes_of_b {
  static constexpr char text[] = {',', ' ', TransposeB ? '1' : '0', 0};
};
template <bool TransposeB>
struct transposes_of_b<fp8_ocp_t, TransposeB> : transposes<fp8_ocp_t, false, TransposeB> {};

}  // namespace detail

// Accumulators as operands of asm, and their names: those of 8 columns are 4 of each thread.
#define TILEWRIGHT_C4(i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
// clang-format off
#define TILEWRIGHT_OPERANDS4 TILEWRIGHT_C4(0)
#define TILEWRIGHT_OPERANDS8 TILEWRIGHT_OPERANDS4, TILEWRIGHT_C4(4)
#define TILEWRIGHT_OPERANDS12 TILEWRIGHT_OPERANDS8, TILEWRIGHT_C4(8)
#define TILEWRIGHT_OPERANDS16 TILEWRIGHT_OPERANDS12, TILEWRIGHT_C4(12)
#define TILEWRIGHT_OPERANDS20 TILEWRIGHT_OPERANDS16, TILEWRIGHT_C4(16)
#define TILEWRIGHT_OPERANDS24 TILEWRIGHT_OPERANDS20, TILEWRIGHT_C4(20)
#define TILEWRIGHT_OPERANDS28 TILEWRIGHT_OPERANDS24, TILEWRIGHT_C4(24)
#define TILEWRIGHT_OPERANDS32 TILEWRIGHT_OPERANDS28, TILEWRIGHT_C4(28)
#define TILEWRIGHT_OPERANDS36 TILEWRIGHT_OPERANDS32, TILEWRIGHT_C4(32)
#define TILEWRIGHT_OPERANDS40 TILEWRIGHT_OPERANDS36, TILEWRIGHT_C4(36)
#define TILEWRIGHT_OPERANDS44 TILEWRIGHT_OPERANDS40, TILEWRIGHT_C4(40)
#define TILEWRIGHT_OPERANDS48 TILEWRIGHT_OPERANDS44, TILEWRIGHT_C4(44)
#define TILEWRIGHT_OPERANDS52 TILEWRIGHT_OPERANDS48, TILEWRIGHT_C4(48)
#define TILEWRIGHT_OPERANDS56 TILEWRIGHT_OPERANDS52, TILEWRIGHT_C4(52)
#define TILEWRIGHT_OPERANDS60 TILEWRIGHT_OPERANDS56, TILEWRIGHT_C4(56)
#define TILEWRIGHT_OPERANDS64 TILEWRIGHT_OPERANDS60, TILEWRIGHT_C4(60)
#define TILEWRIGHT_OPERANDS68 TILEWRIGHT_OPERANDS64, TILEWRIGHT_C4(64)
#define TILEWRIGHT_OPERANDS72 TILEWRIGHT_OPERANDS68, TILEWRIGHT_C4(68)
#define TILEWRIGHT_OPERANDS76 TILEWRIGHT_OPERANDS72, TILEWRIGHT_C4(72)
#define TILEWRIGHT_OPERANDS80 TILEWRIGHT_OPERANDS76, TILEWRIGHT_C4(76)
#define TILEWRIGHT_OPERANDS84 TILEWRIGHT_OPERANDS80, TILEWRIGHT_C4(80)
#define TILEWRIGHT_OPERANDS88 TILEWRIGHT_OPERANDS84, TILEWRIGHT_C4(84)
#define TILEWRIGHT_OPERANDS92 TILEWRIGHT_OPERANDS88, TILEWRIGHT_C4(88)
#define TILEWRIGHT_OPERANDS96 TILEWRIGHT_OPERANDS92, TILEWRIGHT_C4(92)
#define TILEWRIGHT_OPERANDS100 TILEWRIGHT_OPERANDS96, TILEWRIGHT_C4(96)
#define TILEWRIGHT_OPERANDS104 TILEWRIGHT_OPERANDS100, TILEWRIGHT_C4(100)
#define TILEWRIGHT_OPERANDS108 TILEWRIGHT_OPERANDS104, TILEWRIGHT_C4(104)
#define TILEWRIGHT_OPERANDS112 TILEWRIGHT_OPERANDS108, TILEWRIGHT_C4(108)
#define TILEWRIGHT_OPERANDS116 TILEWRIGHT_OPERANDS112, TILEWRIGHT_C4(112)
#define TILEWRIGHT_OPERANDS120 TILEWRIGHT_OPERANDS116, TILEWRIGHT_C4(116)
#define TILEWRIGHT_OPERANDS124 TILEWRIGHT_OPERANDS120, TILEWRIGHT_C4(120)
#define TILEWRIGHT_OPERANDS128 TILEWRIGHT_OPERANDS124, TILEWRIGHT_C4(124)
#define TILEWRIGHT_NAMES4 "%0, %1, %2, %3"
#define TILEWRIGHT_NAMES8 TILEWRIGHT_NAMES4 ", %4, %5, %6, %7"
#define TILEWRIGHT_NAMES12 TILEWRIGHT_NAMES8 ", %8, %9, %10, %11"
#define TILEWRIGHT_NAMES16 TILEWRIGHT_NAMES12 ", %12, %13, %14, %15"
#define TILEWRIGHT_NAMES20 TILEWRIGHT_NAMES16 ", %16, %17, %18, %19"
#define TILEWRIGHT_NAMES24 TILEWRIGHT_NAMES20 ", %20, %21, %22, %23"
#define TILEWRIGHT_NAMES28 TILEWRIGHT_NAMES24 ", %24, %25, %26, %27"
#define TILEWRIGHT_NAMES32 TILEWRIGHT_NAMES28 ", %28, %29, %30, %31"
#define TILEWRIGHT_NAMES36 TILEWRIGHT_NAMES32 ", %32, %33, %34, %35"
#define TILEWRIGHT_NAMES40 TILEWRIGHT_NAMES36 ", %36, %37, %38, %39"
#define TILEWRIGHT_NAMES44 TILEWRIGHT_NAMES40 ", %40, %41, %42, %43"
#define TILEWRIGHT_NAMES48 TILEWRIGHT_NAMES44 ", %44, %45, %46, %47"
#define TILEWRIGHT_NAMES52 TILEWRIGHT_NAMES48 ", %48, %49, %50, %51"
#define TILEWRIGHT_NAMES56 TILEWRIGHT_NAMES52 ", %52, %53, %54, %55"
#define TILEWRIGHT_NAMES60 TILEWRIGHT_NAMES56 ", %56, %57, %58, %59"
#define TILEWRIGHT_NAMES64 TILEWRIGHT_NAMES60 ", %60, %61, %62, %63"
#define TILEWRIGHT_NAMES68 TILEWRIGHT_NAMES64 ", %64, %65, %66, %67"
#define TILEWRIGHT_NAMES72 TILEWRIGHT_NAMES68 ", %68, %69, %70, %71"
#define TILEWRIGHT_NAMES76 TILEWRIGHT_NAMES72 ", %72, %73, %74, %75"
#define TILEWRIGHT_NAMES80 TILEWRIGHT_NAMES76 ", %76, %77, %78, %79"
#define TILEWRIGHT_NAMES84 TILEWRIGHT_NAMES80 ", %80, %81, %82, %83"
#define TILEWRIGHT_NAMES88 TILEWRIGHT_NAMES84 ", %84, %85, %86, %87"
#define TILEWRIGHT_NAMES92 TILEWRIGHT_NAMES88 ", %88, %89, %90, %91"
#define TILEWRIGHT_NAMES96 TILEWRIGHT_NAMES92 ", %92, %93, %94, %95"
#define TILEWRIGHT_NAMES100 TILEWRIGHT_NAMES96 ", %96, %97, %98, %99"
#define TILEWRIGHT_NAMES104 TILEWRIGHT_NAMES100 ", %100, %101, %102, %103"
#define TILEWRIGHT_NAMES108 TILEWRIGHT_NAMES104 ", %104, %105, %106, %107"
#define TILEWRIGHT_NAMES112 TILEWRIGHT_NAMES108 ", %108, %109, %110, %111"
#define TILEWRIGHT_NAMES116 TILEWRIGHT_NAMES112 ", %112, %113, %114, %115"
#define TILEWRIGHT_NAMES120 TILEWRIGHT_NAMES116 ", %116, %117, %118, %119"
#define TILEWRIGHT_NAMES124 TILEWRIGHT_NAMES120 ", %120, %121, %122, %123"
#define TILEWRIGHT_NAMES128 TILEWRIGHT_NAMES124 ", %124, %125, %126, %127"
// f(N, accumulators, the names of the 8 operands after them) for each N.
#define TILEWRIGHT_WGMMA_SHAPES(f) \
  f(8, 4, "%4", "%5", "%6", "%7", "%8", "%9", "%10", "%11") \
  f(16, 8, "%8", "%9", "%10", "%11", "%12", "%13", "%14", "%15") \
  f(24, 12, "%12", "%13", "%14", "%15", "%16", "%17", "%18", "%19") \
  f(32, 16, "%16", "%17", "%18", "%19", "%20", "%21", "%22", "%23") \
  f(40, 20, "%20", "%21", "%22", "%23", "%24", "%25", "%26", "%27") \
  f(48, 24, "%24", "%25", "%26", "%27", "%28", "%29", "%30", "%31") \
  f(56, 28, "%28", "%29", "%30", "%31", "%32", "%33", "%34", "%35") \
  f(64, 32, "%32", "%33", "%34", "%35", "%36", "%37", "%38", "%39") \
  f(72, 36, "%36", "%37", "%38", "%39", "%40", "%41", "%42", "%43") \
  f(80, 40, "%40", "%41", "%42", "%43", "%44", "%45", "%46", "%47") \
  f(88, 44, "%44", "%45", "%46", "%47", "%48", "%49", "%50", "%51") \
  f(96, 48, "%48", "%49", "%50", "%51", "%52", "%53", "%54", "%55") \
  f(104, 52, "%52", "%53", "%54", "%55", "%56", "%57", "%58", "%59") \
  f(112, 56, "%56", "%57", "%58", "%59", "%60", "%61", "%62", "%63") \
  f(120, 60, "%60", "%61", "%62", "%63", "%64", "%65", "%66", "%67") \
  f(128, 64, "%64", "%65", "%66", "%67", "%68", "%69", "%70", "%71") \
  f(136, 68, "%68", "%69", "%70", "%71", "%72", "%73", "%74", "%75") \
  f(144, 72, "%72", "%73", "%74", "%75", "%76", "%77", "%78", "%79") \
  f(152, 76, "%76", "%77", "%78", "%79", "%80", "%81", "%82", "%83") \
  f(160, 80, "%80", "%81", "%82", "%83", "%84", "%85", "%86", "%87") \
  f(168, 84, "%84", "%85", "%86", "%87", "%88", "%89", "%90", "%91") \
  f(176, 88, "%88", "%89", "%90", "%91", "%92", "%93", "%94", "%95") \
  f(184, 92, "%92", "%93", "%94", "%95", "%96", "%97", "%98", "%99") \
  f(192, 96, "%96", "%97", "%98", "%99", "%100", "%101", "%102", "%103") \
  f(200, 100, "%100", "%101", "%102", "%103", "%104", "%105", "%106", "%107") \
  f(208, 104, "%104", "%105", "%106", "%107", "%108", "%109", "%110", "%111") \
  f(216, 108, "%108", "%109", "%110", "%111", "%112", "%113", "%114", "%115") \
  f(224, 112, "%112", "%113", "%114", "%115", "%116", "%117", "%118", "%119") \
  f(232, 116, "%116", "%117", "%118", "%119", "%120", "%121", "%122", "%123") \
  f(240, 120, "%120", "%121", "%122", "%123", "%124", "%125", "%126", "%127") \
  f(248, 124, "%124", "%125", "%126", "%127", "%128", "%129", "%130", "%131") \
  f(256, 128, "%128", "%129", "%130", "%131", "%132", "%133", "%134", "%135")
// clang-format on
#define TILEWRIGHT_WGMMA(N, a, b, add, types, transposed, names)                                                  \
  "{.reg .pred add;\nsetp.ne.b32 add, " add ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N types " {" names "}, " a \
  ", " b ", add, 1, 1" transposed ";}"
#define TILEWRIGHT_WGMMA_LDS(n, count, a, b, add, types, transposed, u0, u1, u2)                                  \
  if constexpr (N == n) {                                                                                         \
    asm volatile(TILEWRIGHT_WGMMA(n, a, b, add, types, transposed, TILEWRIGHT_NAMES##count)                       \
                 : TILEWRIGHT_OPERANDS##count                                                                     \
                 : "l"(a_descriptor), "l"(b_descriptor), "r"(int(accumulate)), "C"(detail::wgmma_types<T>::text), \
                   "C"(detail::transposes<T, TransposeA, TransposeB>::text));                                     \
  }
#define TILEWRIGHT_WGMMA_REGISTERS(n, count, a0, a1, a2, a3, b, add, types, transposed)                             \
  if constexpr (N == n) {                                                                                           \
    asm volatile(                                                                                                   \
        TILEWRIGHT_WGMMA(n, "{" a0 ", " a1 ", " a2 ", " a3 "}", b, add, types, transposed, TILEWRIGHT_NAMES##count) \
        : TILEWRIGHT_OPERANDS##count                                                                                \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b_descriptor), "r"(int(accumulate)),                      \
          "C"(detail::wgmma_types<T>::text), "C"(detail::transposes_of_b<T, TransposeB>::text));                    \
  }

template <index_t N>
inline constexpr bool is_wgmma_n = N % 8 == 0 && 8 <= N && N <= 256;

template <index_t N, class T, bool TransposeA, bool TransposeB>
TILEWRIGHT_HD void wgmma(float* c, unsigned long long a_descriptor, unsigned long long b_descriptor, bool accumulate) {
  static_assert(is_wgmma_n<N>, "wgmma: n is a multiple of 8 up to 256");
  TILEWRIGHT_WGMMA_SHAPES(TILEWRIGHT_WGMMA_LDS)
}

template <index_t N, class T, bool TransposeB>
TILEWRIGHT_HD void wgmma(float* c, const unsigned* a, unsigned long long b_descriptor, bool accumulate) {
  static_assert(is_wgmma_n<N>, "wgmma: n is a multiple of 8 up to 256");
  TILEWRIGHT_WGMMA_SHAPES(TILEWRIGHT_WGMMA_REGISTERS)
}

#undef TILEWRIGHT_C4
#undef TILEWRIGHT_OPERANDS4
#undef TILEWRIGHT_OPERANDS8
#undef TILEWRIGHT_OPERANDS12
#undef TILEWRIGHT_OPERANDS16
#undef TILEWRIGHT_OPERANDS20
#undef TILEWRIGHT_OPERANDS24
#undef TILEWRIGHT_OPERANDS28
#undef TILEWRIGHT_OPERANDS32
#undef TILEWRIGHT_OPERANDS36
#undef TILEWRIGHT_OPERANDS40
#undef TILEWRIGHT_OPERANDS44
#undef TILEWRIGHT_OPERANDS48
#undef TILEWRIGHT_OPERANDS52
#undef TILEWRIGHT_OPERANDS56
#undef TILEWRIGHT_OPERANDS60
#undef TILEWRIGHT_OPERANDS64
#undef TILEWRIGHT_OPERANDS68
#undef TILEWRIGHT_OPERANDS72
#undef TILEWRIGHT_OPERANDS76
#undef TILEWRIGHT_OPERANDS80
#undef TILEWRIGHT_OPERANDS84
#undef TILEWRIGHT_OPERANDS88
#undef TILEWRIGHT_OPERANDS92
#undef TILEWRIGHT_OPERANDS96
#undef TILEWRIGHT_OPERANDS100
#undef TILEWRIGHT_OPERANDS104
#undef TILEWRIGHT_OPERANDS108
#undef TILEWRIGHT_OPERANDS112
#undef TILEWRIGHT_OPERANDS116
#undef TILEWRIGHT_OPERANDS120
#undef TILEWRIGHT_OPERANDS124
#undef TILEWRIGHT_OPERANDS128
#undef TILEWRIGHT_NAMES4
#undef TILEWRIGHT_NAMES8
#undef TILEWRIGHT_NAMES12
#undef TILEWRIGHT_NAMES16
#undef TILEWRIGHT_NAMES20
#undef TILEWRIGHT_NAMES24
#undef TILEWRIGHT_NAMES28
#undef TILEWRIGHT_NAMES32
#undef TILEWRIGHT_NAMES36
#undef TILEWRIGHT_NAMES40
#undef TILEWRIGHT_NAMES44
#undef TILEWRIGHT_NAMES48
#undef TILEWRIGHT_NAMES52
#undef TILEWRIGHT_NAMES56
#undef TILEWRIGHT_NAMES60
#undef TILEWRIGHT_NAMES64
#undef TILEWRIGHT_NAMES68
#undef TILEWRIGHT_NAMES72
#undef TILEWRIGHT_NAMES76
#undef TILEWRIGHT_NAMES80
#undef TILEWRIGHT_NAMES84
#undef TILEWRIGHT_NAMES88
#undef TILEWRIGHT_NAMES92
#undef TILEWRIGHT_NAMES96
#undef TILEWRIGHT_NAMES100
#undef TILEWRIGHT_NAMES104
#undef TILEWRIGHT_NAMES108
#undef TILEWRIGHT_NAMES112
#undef TILEWRIGHT_NAMES116
#undef TILEWRIGHT_NAMES120
#undef TILEWRIGHT_NAMES124
#undef TILEWRIGHT_NAMES128
#undef TILEWRIGHT_WGMMA_SHAPES
#undef TILEWRIGHT_WGMMA
#undef TILEWRIGHT_WGMMA_LDS
#undef TILEWRIGHT_WGMMA_REGISTERS

}  // namespace tilewright::exec::inline nvptx
