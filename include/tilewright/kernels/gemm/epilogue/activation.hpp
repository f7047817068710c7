// SPDX-License-Identifier: MIT
// The activations that an epilogue may apply.
#pragma once

#include <tilewright/kernels/gemm/gemm_args.hpp>
#include <tilewright/machine/exec/exec.hpp>

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

/// The same instead of each number, for an activation that is known at run time: one branch for all of them, little
/// code.
template <index_t N>
TILEWRIGHT_HD void activate(activation kind, array<float, N>& x) {
  if (kind == activation::none) return;
  if (kind == activation::relu) {
    for (float& e : x) e = activate<activation::relu>(e);
    return;
  }
  const bool is_gelu = kind == activation::gelu;
  for (float& e : x) e *= exec::sigmoid(is_gelu ? detail::gelu_argument(e) : e);
}

}  // namespace tilewright
