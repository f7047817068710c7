// SPDX-License-Identifier: MIT
// What one run computes with: Q, K, V and the gradient of O from files or random, and room for the results.
#pragma once

#include "matrix.hpp"
#include "options.hpp"

namespace attention_program {

using gemm_program::matrix;

/// Tensors are batches of matrices, one for each head of each sequence.
struct inputs {
  std::int64_t batch = 1, heads = 1, kv_heads = 1;
  float scale = 1;
  tw::attention_window window;
  matrix q, k, v, o;                                // 8-bit: float32 until quantise()
  std::vector<float> q_scales, k_scales, v_scales;  // 8-bit: factors of each head
  matrix d_o, d_q, d_k, d_v;                        // without elements unless gradients are wanted
  matrix lse;                                       // float32, (batch * heads) x queries
  std::string q_source, k_source, v_source;

  bool has_gradients() const { return d_o.count() > 0; }
  std::int64_t queries() const { return q.rows; }
  std::int64_t keys() const { return k.rows; }
  /// The head of K and V that a head of Q belongs to, both counted through all sequences.
  std::int64_t kv_of(std::int64_t head) const { return head / (heads / kv_heads); }
};

/// Settles sizes and types, refuses what does not match, and reads or draws the tensors.
inputs prepare_inputs(const options& o);

/// Rounds Q, K and V to the 8-bit floats of a target if they shall have some, so that the largest magnitude of each
/// head is the format's. Throws refusal for a target or a kernel without them.
void quantise(inputs& data, const std::string& target, kernel_kind kernel);

/// The head dimension of the kernel that computes this: dimensions are filled up with zeros.
std::int64_t kernel_dim(const inputs& data);

}  // namespace attention_program
