// SPDX-License-Identifier: MIT
// A second copy of an instruction's function, compiled for AVX2, which runs where the CPU has it. Both compute the same bits.
#pragma once

#include "inst.hpp"

namespace emu {
#if defined(__x86_64__)
#define EMU_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt")))
inline bool has_avx2() {
  static const bool yes = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("bmi");
  return yes;
}
/// F with everything that it calls in its unit, compiled again.
template <handler F>
__attribute__((flatten)) EMU_AVX2 void with_avx2(wave& w, const inst& i) {
  F(w, i);
}
template <handler F>
handler fastest() {
  return has_avx2() ? &with_avx2<F> : F;
}
#else
template <handler F>
handler fastest() {
  return F;
}
#endif
}  // namespace emu
