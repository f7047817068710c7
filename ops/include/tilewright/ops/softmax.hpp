// SPDX-License-Identifier: MIT
// softmax: softmax and log-softmax along the last dimension.
#pragma once

#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct softmax_options {
  bool is_log = false;     ///< the logarithm of the softmax
  void* stream = nullptr;  ///< as in gemm_options
};

/// y = softmax(x) along the last dimension, which is contiguous. y and x have equal lengths and types (f16, bf16, f32);
/// y may be x. Throws operation_error before anything is queued.
void softmax(const tensor& y, const tensor& x, const softmax_options& options = {});

}  // namespace tilewright::ops
