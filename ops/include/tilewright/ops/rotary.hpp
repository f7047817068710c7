// SPDX-License-Identifier: MIT
// rotary: rotary position embedding.
#pragma once

#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct rotary_options {
  bool is_interleaved = false;  ///< pairs are elements 2 i and 2 i + 1; else i and i + pairs
  bool is_inverse = false;      ///< rotates back: the gradient
  tensor position = {};         ///< i32 (tokens): rows of cos and sin; without it token modulo their number
  void* stream = nullptr;       ///< as in gemm_options
};

/// Pairs (a, b) of each head become (a cos - b sin, b cos + a sin). x and y: (tokens, heads, dim), or with a first
/// dimension that follows with the tokens' stride, of f16, bf16 or f32, dim contiguous; y may be x. cos and sin: f32
/// (positions, pairs), packed, with 2 pairs <= dim; the elements of a head from 2 pairs on are neither read nor
/// written.
void rotary(const tensor& y, const tensor& x, const tensor& cos, const tensor& sin, const rotary_options& options = {});

}  // namespace tilewright::ops
