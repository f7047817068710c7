// SPDX-License-Identifier: MIT
// moe: a mixture-of-experts layer, from logits to the weighted sum of its experts' SwiGLU MLPs.
#pragma once

#include <tilewright/kernels/routing/choose_experts.hpp>
#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct moe_options {
  int choices = 0;            ///< experts of a token, without the shared ones; >= 1, required
  bool is_normalised = true;  ///< the weights of a token's choices are divided by their sum
  expert_score score = expert_score::softmax;
  tensor score_bias = {};  ///< f32 (experts): added to scores when experts are chosen, not to weights
  int groups = 1;          ///< experts form groups of equal length, whose score is the sum of their two best; >= 1
  int kept_groups = 1;     ///< experts are chosen from these best groups; 1 to groups
  float scale = 1;         ///< factor of the weights of the chosen experts
  int shared = 0;          ///< the last experts of the weights: every token gets them, with weight 1; >= 0
  tensor expert = {};      ///< i32 (tokens, choices + shared), packed: receives the experts; -1: none. None: not kept
  tensor weight = {};      ///< f32, likewise: receives the weights; goes with `expert`

  /// f32 (experts, 2 n) and (experts, d), both for weights of fp8: each row of gate_up and of down times its scale.
  tensor gate_up_scale = {}, down_scale = {};
  tensor gate_up_bias = {};     ///< of x's type (experts, 2 n), columns as those of gate_up
  tensor down_bias = {};        ///< of x's type (experts, columns of y)
  bool is_interleaved = false;  ///< rows of gate and up alternate in gate_up; else the first n are the gate's
  float swiglu_alpha = 1;       ///< the gate g becomes g sigmoid(alpha g)
  float swiglu_limit = 0;       ///< 0: none; else g becomes min(g, limit) before, u of `up` is clamped to +-limit
  float swiglu_shift = 0;       ///< added to u, after that

  /// Scratch memory of the device of moe_workspace_bytes, aligned to 256 bytes, for calls with this one alone until
  /// they have ended; its bytes. Null: the library keeps one for each stream, which grows when a call needs more.
  void* workspace = nullptr;
  long_index_t workspace_bytes = 0;
  void* stream = nullptr;  ///< as in gemm_options
};

/// y[t] = sum over t's experts e, in the order of their choice, of weight(t, e) down[e] (silu(g) u), with g and u the
/// gate's and the other half of gate_up[e] x[t]. Sums do not depend on other tokens: the same bits in each run.
///   x, y      (tokens, d), of f16 or bf16; tokens may be 0
///   logits    (tokens, experts - shared), of f16, bf16 or f32: the gate's output. None: `expert` and `weight` of the
///             options are given, and read instead of written
///   gate_up   (experts, 2 n, d), of x's type or fp8, each matrix contiguous along d
///   down      (experts, d, n), of gate_up's type, each matrix contiguous along n; of 16 bits, or along d
/// With weights of fp8 (e4m3), rows of x and of what SwiGLU makes are quantised, each with a scale of its own.
/// A token's logit that is NaN is chosen last, as no expert; a token without experts gets 0. Lengths of experts stay on
/// the device: nothing is synchronised, and the call may be captured in a graph once a call of these lengths has run.
/// Throws operation_error; then y is not written.
void moe(const tensor& y, const tensor& x, const tensor& logits, const tensor& gate_up, const tensor& down,
         const moe_options& options);

/// Bytes of moe_options::workspace for such a call. Besides, GEMMs on Hopper keep one of 35 MB for each stream.
long_index_t moe_workspace_bytes(const tensor& x, const tensor& gate_up, const tensor& down,
                                 const moe_options& options);

}  // namespace tilewright::ops
