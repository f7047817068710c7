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
  tensor score_bias = {};  ///< f32 (experts - shared): added to scores when experts are chosen, not to weights
  int groups = 1;          ///< experts form groups of equal length, whose score is the sum of their two best; >= 1
  int kept_groups = 1;     ///< experts are chosen from these best groups; 1 to groups
  float scale = 1;         ///< factor of the weights of the chosen experts
  int shared = 0;          ///< the last experts of the weights: every token gets them, with weight 1; >= 0
  int capacity = 0;        ///< the most entries that an expert takes, the first ones; later ones are left out. 0: all
  tensor expert = {};      ///< i32 (tokens, choices + shared), packed: receives the experts; -1: none. None: not kept
  tensor weight = {};      ///< f32, likewise: receives the weights; goes with `expert`
  int first_expert = 0;    ///< without logits: the number of the weights' first expert; others in `expert` add nothing

  /// For weights of 8 or 4 bits, whose formats they say. fp8: f32 (experts, rows), or (experts, rows / 128, columns /
  /// 128), both rounded up, for blocks; MXFP8 and MXFP4: i8 (experts, rows, columns / 32), exponents biased by 127;
  /// int4: f16, bf16 or f32 (experts, rows, columns / group), groups of 32, 64 or a multiple of 128; NVFP4: fp8
  /// (experts, rows, columns / 16).
  tensor gate_up_scale = {}, down_scale = {};
  tensor gate_up_zeros = {}, down_zeros = {};    ///< int4: zero points, i8 as the scales, with their strides; none: 8
  tensor gate_up_factor = {}, down_factor = {};  ///< f32 (experts), packed: of all elements of NVFP4's matrices
  tensor gate_up_bias = {};                      ///< of x's type (experts, 2 n), columns as those of gate_up
  tensor down_bias = {};                         ///< of x's type (experts, columns of y)
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
///   gate_up   (experts, 2 n, d), of x's type, fp8, or i8 (experts, 2 n, d / 2) with two elements of 4 bits in a byte,
///             that of the smaller index in the low bits; each matrix contiguous along its last dimension
///   down      (experts, d, n), of gate_up's type, likewise; of 16 bits, or contiguous along d
/// With weights of fp8 (e4m3) and scales of f32, rows of x and of what SwiGLU makes are quantised, with a scale for
/// each row, or for each 128 elements of a row where weights have scales for blocks. Other weights of 8 and 4 bits are
/// multiplied as bf16.
/// A token's logit that is NaN is chosen last, as no expert; a token without experts gets 0. Lengths of experts stay on
/// the device: nothing is synchronised, and the call may be captured in a graph once a call of these lengths has run.
/// Throws operation_error; then y is not written.
void moe(const tensor& y, const tensor& x, const tensor& logits, const tensor& gate_up, const tensor& down,
         const moe_options& options);

/// Where moe_gradient writes: each may be left out.
struct moe_gradients {
  tensor x = {};             ///< as x
  tensor logits = {};        ///< as logits
  tensor weight = {};        ///< f32 (tokens, choices + shared), packed: of the weights of a token's experts
  tensor gate_up = {};       ///< as gate_up; 0 for experts without tokens
  tensor down = {};          ///< as down, each matrix contiguous along n
  tensor gate_up_bias = {};  ///< as gate_up_bias of the options; 0 for experts without tokens
  tensor down_bias = {};     ///< as down_bias of the options, likewise
};

/// Gradients of moe, of dy (tokens, d), for weights of x's type. The options are those of the call;
/// `expert` and `weight`, if they are given, are what it wrote, else experts are chosen again. The choice has no
/// gradient. Nothing is kept from the call: the first GEMM is computed again. The same bits in each run. Throws
/// operation_error.
void moe_gradient(const moe_gradients& gradients, const tensor& dy, const tensor& x, const tensor& logits,
                  const tensor& gate_up, const tensor& down, const moe_options& options);

/// Bytes of moe_options::workspace for a call of moe_gradient.
long_index_t moe_gradient_workspace_bytes(const tensor& x, const tensor& gate_up, const tensor& down,
                                          const moe_options& options);

/// Bytes of moe_options::workspace for a call of moe. Besides, GEMMs on Hopper keep one of 35 MB for each stream.
long_index_t moe_workspace_bytes(const tensor& x, const tensor& gate_up, const tensor& down,
                                 const moe_options& options);

}  // namespace tilewright::ops
