// SPDX-License-Identifier: MIT
// Functions of one or two elements for kernels that map tensors or quantise rows.
#pragma once

#include <tilewright/machine/exec/math.hpp>

namespace tilewright {

/// The element itself; the result is rounded to nearest, and saturates if it has 8 bits.
struct copy_function {
  /// x.
  TILEWRIGHT_HD float operator()(float x) const { return x; }
};
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
struct gelu_function {
  /// x times the sigmoid of 1.5957691 (x + 0.044715 x^3).
  TILEWRIGHT_HD float operator()(float x) const {
    return x * exec::sigmoid(x * (1.5957691216f + 0.0713548162726f * x * x));
  }
};
/// x sigmoid(x) x2.
struct swiglu_function {
  /// silu(x) x2.
  TILEWRIGHT_HD float operator()(float x, float x2) const { return x * exec::sigmoid(x) * x2; }
};

/// SwiGLU with limits: x' sigmoid(alpha x') (y' + shift), of x' = min(x, limit) and y' = y clamped to +-limit. NaN stays
/// NaN.
struct clamped_swiglu_function {
  float alpha = 1;  ///< of the gate x
  float limit = 0;  ///< > 0; infinity: none
  float shift = 0;  ///< added to y

  /// The function of a gate and the other half.
  TILEWRIGHT_HD float operator()(float x, float y) const {
    const float gate = clamped_gate(x);
    return gate * exec::sigmoid(alpha * gate) * (clamped(y) + shift);
  }
  /// Replaces x and y by the function's derivatives there; returns the function. 0 where a limit cuts.
  TILEWRIGHT_HD float differentiate(float& x, float& y) const {
    const float gate = clamped_gate(x), up = clamped(y) + shift, s = exec::sigmoid(alpha * gate), silu = gate * s;
    const bool cuts_x = x > limit, cuts_y = y > limit || y < -limit;
    x = cuts_x ? 0.0f : up * (s + alpha * silu * (1.0f - s));
    y = cuts_y ? 0.0f : silu;
    return silu * up;
  }

 private:
  TILEWRIGHT_HD float clamped_gate(float x) const { return x > limit ? limit : x; }
  TILEWRIGHT_HD float clamped(float y) const { return y > limit ? limit : y < -limit ? -limit : y; }
};

}  // namespace tilewright
