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

// Accumulators as operands of asm, and their names.
#define TILEWRIGHT_C8(i)                                                                                      \
  "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), \
      "+f"(c[i + 7])
#define TILEWRIGHT_C16 TILEWRIGHT_C8(0), TILEWRIGHT_C8(8)
#define TILEWRIGHT_C32 TILEWRIGHT_C16, TILEWRIGHT_C8(16), TILEWRIGHT_C8(24)
#define TILEWRIGHT_C40 TILEWRIGHT_C32, TILEWRIGHT_C8(32)
#define TILEWRIGHT_C48 TILEWRIGHT_C40, TILEWRIGHT_C8(40)
#define TILEWRIGHT_C56 TILEWRIGHT_C48, TILEWRIGHT_C8(48)
#define TILEWRIGHT_C64 TILEWRIGHT_C56, TILEWRIGHT_C8(56)
#define TILEWRIGHT_C72 TILEWRIGHT_C64, TILEWRIGHT_C8(64)
#define TILEWRIGHT_C80 TILEWRIGHT_C72, TILEWRIGHT_C8(72)
#define TILEWRIGHT_C88 TILEWRIGHT_C80, TILEWRIGHT_C8(80)
#define TILEWRIGHT_C96 TILEWRIGHT_C88, TILEWRIGHT_C8(88)
#define TILEWRIGHT_C104 TILEWRIGHT_C96, TILEWRIGHT_C8(96)
#define TILEWRIGHT_C112 TILEWRIGHT_C104, TILEWRIGHT_C8(104)
#define TILEWRIGHT_C120 TILEWRIGHT_C112, TILEWRIGHT_C8(112)
#define TILEWRIGHT_C128 TILEWRIGHT_C120, TILEWRIGHT_C8(120)
#define TILEWRIGHT_NAMES16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define TILEWRIGHT_NAMES32 \
  TILEWRIGHT_NAMES16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TILEWRIGHT_NAMES40 TILEWRIGHT_NAMES32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define TILEWRIGHT_NAMES48 TILEWRIGHT_NAMES40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define TILEWRIGHT_NAMES56 TILEWRIGHT_NAMES48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define TILEWRIGHT_NAMES64 TILEWRIGHT_NAMES56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define TILEWRIGHT_NAMES72 TILEWRIGHT_NAMES64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define TILEWRIGHT_NAMES80 TILEWRIGHT_NAMES72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define TILEWRIGHT_NAMES88 TILEWRIGHT_NAMES80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define TILEWRIGHT_NAMES96 TILEWRIGHT_NAMES88 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define TILEWRIGHT_NAMES104 TILEWRIGHT_NAMES96 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define TILEWRIGHT_NAMES112 TILEWRIGHT_NAMES104 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define TILEWRIGHT_NAMES120 TILEWRIGHT_NAMES112 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define TILEWRIGHT_NAMES128 TILEWRIGHT_NAMES120 ", %120, %121, %122, %123, %124, %125, %126, %127"
// f(N, accumulators, the names of the 8 operands after them) for each N.
// clang-format off
#define TILEWRIGHT_WGMMA_SHAPES(f) \
  f(32, 16, "%16", "%17", "%18", "%19", "%20", "%21", "%22", "%23") \
  f(64, 32, "%32", "%33", "%34", "%35", "%36", "%37", "%38", "%39") \
  f(80, 40, "%40", "%41", "%42", "%43", "%44", "%45", "%46", "%47") \
  f(96, 48, "%48", "%49", "%50", "%51", "%52", "%53", "%54", "%55") \
  f(112, 56, "%56", "%57", "%58", "%59", "%60", "%61", "%62", "%63") \
  f(128, 64, "%64", "%65", "%66", "%67", "%68", "%69", "%70", "%71") \
  f(144, 72, "%72", "%73", "%74", "%75", "%76", "%77", "%78", "%79") \
  f(160, 80, "%80", "%81", "%82", "%83", "%84", "%85", "%86", "%87") \
  f(176, 88, "%88", "%89", "%90", "%91", "%92", "%93", "%94", "%95") \
  f(192, 96, "%96", "%97", "%98", "%99", "%100", "%101", "%102", "%103") \
  f(208, 104, "%104", "%105", "%106", "%107", "%108", "%109", "%110", "%111") \
  f(224, 112, "%112", "%113", "%114", "%115", "%116", "%117", "%118", "%119") \
  f(240, 120, "%120", "%121", "%122", "%123", "%124", "%125", "%126", "%127") \
  f(256, 128, "%128", "%129", "%130", "%131", "%132", "%133", "%134", "%135")
// clang-format on
#define TILEWRIGHT_WGMMA(N, a, b, add, types, transposed, names)                                                  \
  "{.reg .pred add;\nsetp.ne.b32 add, " add ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N types " {" names "}, " a \
  ", " b ", add, 1, 1" transposed ";}"
#define TILEWRIGHT_WGMMA_LDS(n, count, a, b, add, types, transposed, u0, u1, u2)                                  \
  if constexpr (N == n) {                                                                                         \
    asm volatile(TILEWRIGHT_WGMMA(n, a, b, add, types, transposed, TILEWRIGHT_NAMES##count)                       \
                 : TILEWRIGHT_C##count                                                                            \
                 : "l"(a_descriptor), "l"(b_descriptor), "r"(int(accumulate)), "C"(detail::wgmma_types<T>::text), \
                   "C"(detail::transposes<T, TransposeA, TransposeB>::text));                                     \
  }
#define TILEWRIGHT_WGMMA_REGISTERS(n, count, a0, a1, a2, a3, b, add, types, transposed)                             \
  if constexpr (N == n) {                                                                                           \
    asm volatile(                                                                                                   \
        TILEWRIGHT_WGMMA(n, "{" a0 ", " a1 ", " a2 ", " a3 "}", b, add, types, transposed, TILEWRIGHT_NAMES##count) \
        : TILEWRIGHT_C##count                                                                                       \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b_descriptor), "r"(int(accumulate)),                      \
          "C"(detail::wgmma_types<T>::text), "C"(detail::transposes_of_b<T, TransposeB>::text));                    \
  }

template <index_t N>
inline constexpr bool is_wgmma_n = N == 32 || (N % 16 == 0 && 64 <= N && N <= 256);

template <index_t N, class T, bool TransposeA, bool TransposeB>
TILEWRIGHT_HD void wgmma(float* c, unsigned long long a_descriptor, unsigned long long b_descriptor, bool accumulate) {
  static_assert(is_wgmma_n<N>, "wgmma: n is 32 or a multiple of 16 from 64 to 256");
  TILEWRIGHT_WGMMA_SHAPES(TILEWRIGHT_WGMMA_LDS)
}

template <index_t N, class T, bool TransposeB>
TILEWRIGHT_HD void wgmma(float* c, const unsigned* a, unsigned long long b_descriptor, bool accumulate) {
  static_assert(is_wgmma_n<N>, "wgmma: n is 32 or a multiple of 16 from 64 to 256");
  TILEWRIGHT_WGMMA_SHAPES(TILEWRIGHT_WGMMA_REGISTERS)
}

#undef TILEWRIGHT_C8
#undef TILEWRIGHT_C16
#undef TILEWRIGHT_C32
#undef TILEWRIGHT_C40
#undef TILEWRIGHT_C48
#undef TILEWRIGHT_C56
#undef TILEWRIGHT_C64
#undef TILEWRIGHT_C72
#undef TILEWRIGHT_C80
#undef TILEWRIGHT_C88
#undef TILEWRIGHT_C96
#undef TILEWRIGHT_C104
#undef TILEWRIGHT_C112
#undef TILEWRIGHT_C120
#undef TILEWRIGHT_C128
#undef TILEWRIGHT_NAMES16
#undef TILEWRIGHT_NAMES32
#undef TILEWRIGHT_NAMES40
#undef TILEWRIGHT_NAMES48
#undef TILEWRIGHT_NAMES56
#undef TILEWRIGHT_NAMES64
#undef TILEWRIGHT_NAMES72
#undef TILEWRIGHT_NAMES80
#undef TILEWRIGHT_NAMES88
#undef TILEWRIGHT_NAMES96
#undef TILEWRIGHT_NAMES104
#undef TILEWRIGHT_NAMES112
#undef TILEWRIGHT_NAMES120
#undef TILEWRIGHT_NAMES128
#undef TILEWRIGHT_WGMMA_SHAPES
#undef TILEWRIGHT_WGMMA
#undef TILEWRIGHT_WGMMA_LDS
#undef TILEWRIGHT_WGMMA_REGISTERS

}  // namespace tilewright::exec::inline nvptx
