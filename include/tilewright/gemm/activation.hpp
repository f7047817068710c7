// SPDX-License-Identifier: MIT
// The activations that an epilogue may apply.
#pragma once

#include <tilewright/gemm/epilogue_options.hpp>

namespace tilewright {

namespace detail {

/// 1 / (1 + exp(-x)) by the machine's approximations, with a relative error of about 1e-6.
TILEWRIGHT_HD float sigmoid(float x) {
  constexpr float minus_log2_e = -1.442695041f;
#if TILEWRIGHT_AMDGCN_PASS
  return __builtin_amdgcn_rcpf(1.0f + __builtin_amdgcn_exp2f(x * minus_log2_e));
#elif TILEWRIGHT_NVPTX_PASS
  float power;
  asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(x * minus_log2_e));
  return 1.0f / (1.0f + power);
#else
  return 1.0f / (1.0f + __builtin_exp2f(x * minus_log2_e));
#endif
}

/// (1 + tanh(u)) / 2 = sigmoid(2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3).
TILEWRIGHT_HD float gelu_argument(float x) { return 1.595769122f * (x + 0.044715f * x * x * x); }

}  // namespace detail

/// The activation's value at x.
template <activation Kind>
TILEWRIGHT_HD float activate(float x) {
  if constexpr (Kind == activation::relu) {
    return x < 0.0f ? 0.0f : x;  // keeps NaN
  } else if constexpr (Kind == activation::gelu) {
    return x * detail::sigmoid(detail::gelu_argument(x));
  } else if constexpr (Kind == activation::silu) {
    return x * detail::sigmoid(x);
  } else {
    return x;
  }
}

/// The same for an activation that is known at run time, as little code.
TILEWRIGHT_HD float activate(activation kind, float x) {
  if (kind == activation::none) return x;
  if (kind == activation::relu) return activate<activation::relu>(x);
  return x * detail::sigmoid(kind == activation::gelu ? detail::gelu_argument(x) : x);
}

}  // namespace tilewright
