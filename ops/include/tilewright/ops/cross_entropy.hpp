// SPDX-License-Identifier: MIT
// cross_entropy: the loss of logits, and its gradient.
#pragma once

#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct cross_entropy_options {
  tensor gradient = {};    ///< as logits: written as well; may be the logits
  tensor log_sum = {};     ///< f32 (rows): log(sum of exp(logits)), written as well
  tensor factor = {};      ///< f32 (rows): what the gradient of each row is multiplied by
  float scale = 1;         ///< and that of all rows
  void* stream = nullptr;  ///< as in gemm_options
};

/// loss = log(sum of exp(logits)) - logits[target] for each row. loss: f32 (rows); logits: (rows, classes) of f16, bf16
/// or f32, contiguous along classes; target: i32 (rows). A row whose target is no class has loss and gradient 0.
void cross_entropy(const tensor& loss, const tensor& logits, const tensor& target,
                   const cross_entropy_options& options = {});

}  // namespace tilewright::ops
