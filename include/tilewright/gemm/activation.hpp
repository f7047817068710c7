// SPDX-License-Identifier: MIT
// The activations that an epilogue may apply.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/gemm/epilogue_options.hpp>

namespace tilewright {

namespace detail {
/// (1 + tanh(u)) / 2 = sigmoid(2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3).
TILEWRIGHT_HD float gelu_argument(float x) { return 1.595769122f * (x + 0.044715f * x * x * x); }
}  // namespace detail

/// The activation's value at x.
template <activation Kind>
TILEWRIGHT_HD float activate(float x) {
  if constexpr (Kind == activation::relu) {
    return x < 0.0f ? 0.0f : x;  // keeps NaN
  } else if constexpr (Kind == activation::gelu) {
    return x * exec::sigmoid(detail::gelu_argument(x));
  } else if constexpr (Kind == activation::silu) {
    return x * exec::sigmoid(x);
  } else {
    return x;
  }
}

/// The same for an activation that is known at run time, as little code.
TILEWRIGHT_HD float activate(activation kind, float x) {
  if (kind == activation::none) return x;
  if (kind == activation::relu) return activate<activation::relu>(x);
  return x * exec::sigmoid(kind == activation::gelu ? detail::gelu_argument(x) : x);
}

}  // namespace tilewright
