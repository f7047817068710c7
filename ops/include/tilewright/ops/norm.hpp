// SPDX-License-Identifier: MIT
// rms_norm, layer_norm and their gradients, along the last dimension.
#pragma once

#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct norm_options {
  float epsilon = 1e-5f;  ///< added to the variance, > 0
  tensor bias = {};       ///< (cols) of x's type, added; layer_norm only
  tensor residual = {};   ///< as x: s = x + residual is normalised instead of x; needs sum
  tensor sum = {};        ///< as x: s, rounded to its type; may be x or residual
  tensor scales = {};  ///< f32 (rows), or (rows, cols / 128 rounded up): y has 8 bits, and y times scale is the result
  tensor mean = {};    ///< f32 (rows): what layer_norm_gradient takes; layer_norm only
  tensor rstd = {};    ///< f32 (rows): 1 / sqrt(variance + epsilon), what the gradients take
  void* stream = nullptr;  ///< as in gemm_options
};

/// y = x / sqrt(mean of x^2 + epsilon) * weight for each row along the last dimension, which is contiguous. x: f16,
/// bf16 or f32, y has its lengths and type, or 8 bits with scales. weight: (cols) of x's type. Leading dimensions are
/// rows; they must follow each other with one stride.
void rms_norm(const tensor& y, const tensor& x, const tensor& weight, const norm_options& options = {});
/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias.
void layer_norm(const tensor& y, const tensor& x, const tensor& weight, const norm_options& options = {});

struct norm_gradient_options {
  tensor d_sum = {};       ///< as x: the gradient that `sum` has from elsewhere, added to dx
  tensor d_bias = {};      ///< (cols) of x's type, written; layer_norm_gradient only
  void* stream = nullptr;  ///< as in gemm_options
};

/// Gradients dx (of x, and of the residual) and d_weight, from dy, what was normalised (x, or sum), weight, and rstd.
/// Sums over rows are added up in a fixed order. dx may be dy or d_sum.
void rms_norm_gradient(const tensor& dx, const tensor& d_weight, const tensor& dy, const tensor& x,
                       const tensor& weight, const tensor& rstd, const norm_gradient_options& options = {});
void layer_norm_gradient(const tensor& dx, const tensor& d_weight, const tensor& dy, const tensor& x,
                         const tensor& weight, const tensor& mean, const tensor& rstd,
                         const norm_gradient_options& options = {});

}  // namespace tilewright::ops
