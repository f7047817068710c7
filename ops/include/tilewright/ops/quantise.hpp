// SPDX-License-Identifier: MIT
// quantise: 8-bit elements with scales.
#pragma once

#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct quantise_options {
  void* stream = nullptr;  ///< as in gemm_options
};

/// y times its scale = x. x: f16, bf16 or f32, contiguous along the last dimension; y: its lengths, of fp8, bf8 or i8;
/// scales: f32 (rows), or (rows, cols / 128 rounded up) with any strides: one for each 128 elements.
void quantise(const tensor& y, const tensor& scales, const tensor& x, const quantise_options& options = {});

}  // namespace tilewright::ops
