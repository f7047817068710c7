// SPDX-License-Identifier: MIT
// Functions of floats by the machine's own instructions, with the same error bounds on every machine: docs/machine.md.
// The host half of a HIP or CUDA compilation has those of the CPU, and never runs them.
#pragma once

#include <tilewright/core/base/config.hpp>
#include <tilewright/core/base/type_traits.hpp>

#if TILEWRIGHT_AMDGCN_PASS
#include <tilewright/machine/exec/amdgcn/math.hpp>
#elif TILEWRIGHT_NVPTX_PASS
#include <tilewright/machine/exec/nvptx/math.hpp>
#endif

namespace tilewright::exec {

#if !TILEWRIGHT_DEVICE_PASS
TILEWRIGHT_HD float exp2(float x) { return __builtin_exp2f(x); }
TILEWRIGHT_HD float log2(float x) { return __builtin_log2f(x); }
TILEWRIGHT_HD float rcp(float x) { return 1.0f / x; }
TILEWRIGHT_HD float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
TILEWRIGHT_HD float tanh(float x) { return __builtin_tanhf(x); }
TILEWRIGHT_HD float abs(float x) { return __builtin_fabsf(x); }
/// The larger one; the number, if the other is a NaN.
TILEWRIGHT_HD constexpr float max_f32(float a, float b) { return a != a || a < b ? b : a; }
/// The smaller one; the number, if the other is a NaN.
TILEWRIGHT_HD constexpr float min_f32(float a, float b) { return a != a || b < a ? b : a; }
#endif

TILEWRIGHT_HD float sigmoid(float x) { return rcp(1.0f + exp2(x * -1.442695041f)); }

#if !TILEWRIGHT_AMDGCN_PASS
TILEWRIGHT_HD void multiply_add_pair(float* x, float factor, float addend) {
  x[0] = x[0] * factor + addend;
  x[1] = x[1] * factor + addend;
}
TILEWRIGHT_HD void add_pair(float* x, const float* y) {
  x[0] += y[0];
  x[1] += y[1];
}
#endif

template <class T>
  requires(__is_same(T, float) || tilewright::detail::Integral<T>)
TILEWRIGHT_HD constexpr T max(T a, T b) {
  if constexpr (__is_same(T, float)) {
    return max_f32(a, b);
  } else {
    return a < b ? b : a;
  }
}
template <class T>
  requires(__is_same(T, float) || tilewright::detail::Integral<T>)
TILEWRIGHT_HD constexpr T min(T a, T b) {
  if constexpr (__is_same(T, float)) {
    return min_f32(a, b);
  } else {
    return b < a ? b : a;
  }
}

}  // namespace tilewright::exec
