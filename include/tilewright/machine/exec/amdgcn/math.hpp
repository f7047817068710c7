// SPDX-License-Identifier: MIT
// Functions of floats on AMD GPUs, one instruction each except for tanh; docs/machine.md has their error bounds.
#pragma once

#include <tilewright/core/base/config.hpp>

namespace tilewright::exec::inline amdgcn {

TILEWRIGHT_HD float exp2(float x) { return __builtin_amdgcn_exp2f(x); }
TILEWRIGHT_HD float log2(float x) { return __builtin_amdgcn_logf(x); }
TILEWRIGHT_HD float rcp(float x) { return __builtin_amdgcn_rcpf(x); }
TILEWRIGHT_HD float rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }

/// 1 - 2 / (1 + exp(2 x)); x itself where that would cancel.
TILEWRIGHT_HD float tanh(float x) {
  const float wide = 1.0f - 2.0f * rcp(1.0f + exp2(x * 2.885390082f));
  return __builtin_fabsf(x) < 0.0078125f ? x : wide;
}

namespace detail {
using float_pair __attribute__((ext_vector_type(2))) = float;
}
TILEWRIGHT_HD void multiply_add_pair(float* x, float factor, float addend) {
  const detail::float_pair y =
      __builtin_elementwise_fma(detail::float_pair{x[0], x[1]}, detail::float_pair(factor), detail::float_pair(addend));
  x[0] = y[0];
  x[1] = y[1];
}
TILEWRIGHT_HD void add_pair(float* x, const float* y) {
  const detail::float_pair sum = detail::float_pair{x[0], x[1]} + detail::float_pair{y[0], y[1]};
  x[0] = sum[0];
  x[1] = sum[1];
}

TILEWRIGHT_HD float abs(float x) { return __builtin_fabsf(x); }
// Two of them in a row become one v_max3_f32 or v_min3_f32.
/// The larger one; the number, if the other is a NaN. Two of them in a row become one v_max3_f32.
TILEWRIGHT_HD constexpr float max_f32(float a, float b) { return __builtin_fmaxf(a, b); }
/// The smaller one; the number, if the other is a NaN. Two of them in a row become one v_min3_f32.
TILEWRIGHT_HD constexpr float min_f32(float a, float b) { return __builtin_fminf(a, b); }

}  // namespace tilewright::exec::inline amdgcn
