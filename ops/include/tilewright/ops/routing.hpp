// SPDX-License-Identifier: MIT
// Routing of tokens to experts: choices, their order, rows to experts and back.
#pragma once

#include <tilewright/kernels/routing/choose_experts_args.hpp>
#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct choose_experts_options {
  bool is_normalised = true;  ///< the weights of a token add up to 1; else they are the scores of all its logits
  void* stream = nullptr;     ///< as in gemm_options
  expert_score score = expert_score::softmax;  ///< of a token's logits
  tensor score_bias = {};  ///< f32 (experts): added to scores when experts are chosen, not to weights
  int groups = 1;          ///< as moe_options::groups
  int kept_groups = 1;     ///< as moe_options::kept_groups
  float scale = 1;         ///< factor of the weights of the chosen experts
  int shared = 0;          ///< experts after those of the logits, which every token gets with weight 1; >= 0
};

/// The experts with the largest scores for each token, then the shared ones. expert: i32 (tokens, choices + shared),
/// weight: f32, likewise, both packed; logits: (tokens, experts) of f16, bf16 or f32, contiguous along experts. A NaN
/// is chosen last, as no expert: -1.
void choose_experts(const tensor& expert, const tensor& weight, const tensor& logits,
                    const choose_experts_options& options = {});

struct routing_options {
  void* stream = nullptr;  ///< as in gemm_options
};

/// Orders entries (tokens x choices) by expert. ends: i32 (experts), for grouped_gemm; source: i32, as many as entries:
/// which entry each row has; position: i32: the row of each entry; expert: i32, packed, as choose_experts wrote it.
void order_by_expert(const tensor& ends, const tensor& source, const tensor& position, const tensor& expert,
                     const routing_options& options = {});

/// y[position of e] = x[t] for the entries e of token t. y: (rows, cols), x: (tokens, cols), of f16, bf16 or f32;
/// position: i32 (tokens, choices), packed. Entries with position -1 are left out.
void rows_to_experts(const tensor& y, const tensor& x, const tensor& position, const routing_options& options = {});
/// y[t] = sum of weight[e] x[position of e] over the entries e of token t. y: (tokens, cols), x: (rows, cols); weight:
/// f32 (tokens, choices), packed, or none: 1.
void rows_from_experts(const tensor& y, const tensor& x, const tensor& position, const tensor& weight = {},
                       const routing_options& options = {});

}  // namespace tilewright::ops
