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

}  // namespace tilewright
