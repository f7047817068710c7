// SPDX-License-Identifier: MIT
// Functions of floats on NVIDIA GPUs, one instruction each; docs/machine.md has their error bounds.
#pragma once

#include <tilewright/core/base/config.hpp>

namespace tilewright::exec::inline nvptx {

#define TILEWRIGHT_MATH(name, instruction)     \
  TILEWRIGHT_HD float name(float x) {          \
    asm(instruction ".f32 %0, %0;" : "+f"(x)); \
    return x;                                  \
  }
TILEWRIGHT_MATH(exp2, "ex2.approx.ftz")
TILEWRIGHT_MATH(log2, "lg2.approx.ftz")
TILEWRIGHT_MATH(rcp, "rcp.approx.ftz")
TILEWRIGHT_MATH(rsqrt, "rsqrt.approx.ftz")
TILEWRIGHT_MATH(tanh, "tanh.approx")
TILEWRIGHT_MATH(abs, "abs")
#undef TILEWRIGHT_MATH

/// The larger one; the number, if the other is a NaN.
TILEWRIGHT_HD constexpr float max_f32(float a, float b) {
  if (__builtin_is_constant_evaluated()) return a != a || a < b ? b : a;
  asm("max.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}
/// The smaller one; the number, if the other is a NaN.
TILEWRIGHT_HD constexpr float min_f32(float a, float b) {
  if (__builtin_is_constant_evaluated()) return a != a || b < a ? b : a;
  asm("min.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}

}  // namespace tilewright::exec::inline nvptx
