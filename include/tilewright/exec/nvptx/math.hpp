// SPDX-License-Identifier: MIT
// Functions of floats on NVIDIA GPUs, one instruction each; exec/math.hpp has their error bounds.
#pragma once

#include <tilewright/config/config.hpp>

namespace tilewright::exec {
inline namespace nvptx {

TILEWRIGHT_HD float exp2(float x) {
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}
// As exec/math.hpp computes it elsewhere. One asm: among wgmma, ptxas serialises what it is when written in C++.
TILEWRIGHT_HD float exp2_by_multiply_adds(float x) {
  asm("{.reg .f32 shifted, f, y;\n.reg .b32 exponent, bits;\n"
      "max.ftz.f32 %0, %0, 0fC2FE0000;\n"
      "add.ftz.f32 shifted, %0, 0f4B400000;\n"
      "sub.ftz.f32 f, shifted, 0f4B400000;\n"
      "sub.ftz.f32 f, %0, f;\n"
      "fma.rn.ftz.f32 y, f, 0f3C1D016E, 0f3D64FE29;\n"
      "fma.rn.ftz.f32 y, y, f, 0f3E7601BC;\n"
      "fma.rn.ftz.f32 y, y, f, 0f3F317096;\n"
      "fma.rn.ftz.f32 y, y, f, 0f3F800000;\n"
      "mov.b32 exponent, shifted;\nshl.b32 exponent, exponent, 23;\nmov.b32 bits, y;\n"
      "add.s32 bits, bits, exponent;\nmov.b32 %0, bits;}"
      : "+f"(x));
  return x;
}
TILEWRIGHT_HD float log2(float x) {
  asm("lg2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}
TILEWRIGHT_HD float rcp(float x) {
  asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}
TILEWRIGHT_HD float rsqrt(float x) {
  asm("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}
TILEWRIGHT_HD float tanh(float x) {
  asm("tanh.approx.f32 %0, %0;" : "+f"(x));
  return x;
}

TILEWRIGHT_HD constexpr float max_f32(float a, float b) {
  if (__builtin_is_constant_evaluated()) return a != a || a < b ? b : a;
  asm("max.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}
TILEWRIGHT_HD constexpr float min_f32(float a, float b) {
  if (__builtin_is_constant_evaluated()) return a != a || b < a ? b : a;
  asm("min.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}

}  // namespace nvptx
}  // namespace tilewright::exec
