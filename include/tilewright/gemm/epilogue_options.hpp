// SPDX-License-Identifier: MIT
// What happens to a sum before it is written.
#pragma once

#include <tilewright/config/config.hpp>

namespace tilewright {

/// A function of one number. gelu is the one with the error function replaced by tanh; silu is x / (1 + exp(-x)).
enum class activation : signed char { none, relu, gelu, silu };

/// C(m, n) = activation(alpha * sum * scale * row_scale(m) * column_scale(n) + bias(n)) + residual(m, n) + beta * C(m,
/// n), rounded once to the type of C. What is not asked for costs nothing; gemm_args say where the rest lies.
struct epilogue_options {
  bool scale = false;         // one float in memory
  bool row_scale = false;     // m floats
  bool column_scale = false;  // n floats
  bool bias = false;          // n elements of C's type
  tilewright::activation activation = tilewright::activation::none;
  bool residual = false;  // m x n elements of C's type, row-major
  /// Instead of the above: gemm_args decide at run time. They do what they hold a pointer for,
  /// and the activation that they name.
  bool from_args = false;

  /// Nothing above beside from_args, which would have no effect.
  TILEWRIGHT_HD constexpr bool is_sound() const { return !from_args || *this == epilogue_options{.from_args = true}; }
  TILEWRIGHT_HD constexpr bool is_plain() const { return *this == epilogue_options{}; }
  friend constexpr bool operator==(const epilogue_options&, const epilogue_options&) = default;
};

}  // namespace tilewright
