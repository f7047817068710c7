// SPDX-License-Identifier: MIT
// A second copy of a function, compiled for AVX2, which runs where the CPU has it. Both compute the same bits.
#pragma once

#include <cstdlib>

#include "inst.hpp"

namespace emu {
/// What must be compiled again with the function that calls it.
#define EMU_INLINE inline __attribute__((always_inline))
/// For loops over an array of registers of the CPU: g++ -O2 keeps the array in memory without it.
#define EMU_UNROLL _Pragma("GCC unroll 16")
#if defined(__x86_64__)
#define EMU_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt")))
inline bool has_avx2() {
  static const bool yes = !std::getenv("AMDGCN_EMULATOR_PORTABLE") && __builtin_cpu_supports("avx2") &&
                          __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
                          __builtin_cpu_supports("bmi");
  return yes;
}
#else
#define EMU_AVX2
inline bool has_avx2() { return false; }
#endif
template <auto F>
struct copy_for_avx2;
template <class R, class... A, R (*F)(A...)>
struct copy_for_avx2<F> {
  /// F, with what is EMU_INLINE in it.
  __attribute__((flatten)) EMU_AVX2 static R run(A... a) { return F(a...); }
};
template <auto F>
auto fastest() {
  return has_avx2() ? &copy_for_avx2<F>::run : F;
}
}  // namespace emu
