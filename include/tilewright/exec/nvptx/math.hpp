// SPDX-License-Identifier: MIT
// Functions of floats on NVIDIA GPUs, one instruction each; docs/machine.md has their error bounds.
#pragma once

#include <tilewright/config/config.hpp>

namespace tilewright::exec::inline nvptx {

TILEWRIGHT_HD float exp2(float x) {
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
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

TILEWRIGHT_HD float abs(float x) {
  asm("abs.f32 %0, %0;" : "+f"(x));
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

}  // namespace tilewright::exec::inline nvptx
