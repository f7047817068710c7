// SPDX-License-Identifier: MIT
// The operations of tilewright.h other than GEMM.
#include <tilewright/ops.hpp>

#include "c_calls.hpp"

namespace tilewright::ops {
namespace {

norm_options options_for(const tilewright_norm_options& o) {
  return {.epsilon = o.epsilon,
          .bias = optional(o.bias),
          .residual = optional(o.residual),
          .sum = optional(o.sum),
          .scales = optional(o.scales),
          .mean = optional(o.mean),
          .rstd = optional(o.rstd),
          .stream = o.stream};
}
norm_gradient_options options_for(const tilewright_norm_gradient_options& o) {
  return {.d_sum = optional(o.d_sum), .d_bias = optional(o.d_bias), .stream = o.stream};
}
attention_options options_for(const tilewright_attention_options& o) {
  return {.scale = o.scale,
          .causal = o.causal != 0,
          .window_left = o.window_left,
          .window_right = o.window_right,
          .lse = optional(o.lse),
          .query_starts = optional(o.query_starts),
          .key_starts = optional(o.key_starts),
          .max_queries = o.max_queries,
          .max_keys = o.max_keys,
          .stream = o.stream};
}

moe_options options_for(const tilewright_moe_options& o) {
  return {.choices = o.choices,
          .is_normalised = o.is_normalised != 0,
          .score = expert_score(o.score == 0 || o.score == 1 ? o.score : -1),
          .score_bias = optional(o.score_bias),
          .groups = o.groups,
          .kept_groups = o.kept_groups,
          .scale = o.scale,
          .shared = o.shared,
          .expert = optional(o.expert),
          .weight = optional(o.weight),
          .gate_up_scale = optional(o.gate_up_scale),
          .down_scale = optional(o.down_scale),
          .gate_up_bias = optional(o.gate_up_bias),
          .down_bias = optional(o.down_bias),
          .is_interleaved = o.is_interleaved != 0,
          .swiglu_alpha = o.swiglu_alpha,
          .swiglu_limit = o.swiglu_limit,
          .swiglu_shift = o.swiglu_shift,
          .workspace = o.workspace,
          .workspace_bytes = o.workspace_bytes,
          .stream = o.stream};
}

}  // namespace
}  // namespace tilewright::ops

using namespace tilewright::ops;

extern "C" {

tilewright_status tilewright_softmax(const tilewright_tensor* y, const tilewright_tensor* x,
                                     const tilewright_softmax_options* given) {
  constexpr const char* op = "softmax";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_softmax_options TILEWRIGHT_SOFTMAX_OPTIONS);
    softmax(required(op, "y", y), required(op, "x", x), {.is_log = o.is_log != 0, .stream = o.stream});
  });
}
tilewright_status tilewright_rms_norm(const tilewright_tensor* y, const tilewright_tensor* x,
                                      const tilewright_tensor* weight, const tilewright_norm_options* given) {
  constexpr const char* op = "rms_norm";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_norm_options TILEWRIGHT_NORM_OPTIONS);
    rms_norm(required(op, "y", y), required(op, "x", x), required(op, "weight", weight), options_for(o));
  });
}
tilewright_status tilewright_layer_norm(const tilewright_tensor* y, const tilewright_tensor* x,
                                        const tilewright_tensor* weight, const tilewright_norm_options* given) {
  constexpr const char* op = "layer_norm";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_norm_options TILEWRIGHT_NORM_OPTIONS);
    layer_norm(required(op, "y", y), required(op, "x", x), required(op, "weight", weight), options_for(o));
  });
}
tilewright_status tilewright_rms_norm_gradient(const tilewright_tensor* dx, const tilewright_tensor* d_weight,
                                               const tilewright_tensor* dy, const tilewright_tensor* x,
                                               const tilewright_tensor* weight, const tilewright_tensor* rstd,
                                               const tilewright_norm_gradient_options* given) {
  constexpr const char* op = "rms_norm_gradient";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_norm_gradient_options TILEWRIGHT_NORM_GRADIENT_OPTIONS);
    rms_norm_gradient(required(op, "dx", dx), required(op, "d_weight", d_weight), required(op, "dy", dy),
                      required(op, "x", x), required(op, "weight", weight), required(op, "rstd", rstd), options_for(o));
  });
}
tilewright_status tilewright_layer_norm_gradient(const tilewright_tensor* dx, const tilewright_tensor* d_weight,
                                                 const tilewright_tensor* dy, const tilewright_tensor* x,
                                                 const tilewright_tensor* weight, const tilewright_tensor* mean,
                                                 const tilewright_tensor* rstd,
                                                 const tilewright_norm_gradient_options* given) {
  constexpr const char* op = "layer_norm_gradient";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_norm_gradient_options TILEWRIGHT_NORM_GRADIENT_OPTIONS);
    layer_norm_gradient(required(op, "dx", dx), required(op, "d_weight", d_weight), required(op, "dy", dy),
                        required(op, "x", x), required(op, "weight", weight), required(op, "mean", mean),
                        required(op, "rstd", rstd), options_for(o));
  });
}
tilewright_status tilewright_rotary(const tilewright_tensor* y, const tilewright_tensor* x,
                                    const tilewright_tensor* cos, const tilewright_tensor* sin,
                                    const tilewright_rotary_options* given) {
  constexpr const char* op = "rotary";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_rotary_options TILEWRIGHT_ROTARY_OPTIONS);
    rotary(required(op, "y", y), required(op, "x", x), required(op, "cos", cos), required(op, "sin", sin),
           {.is_interleaved = o.is_interleaved != 0,
            .is_inverse = o.is_inverse != 0,
            .position = optional(o.position),
            .stream = o.stream});
  });
}
tilewright_status tilewright_cross_entropy(const tilewright_tensor* loss, const tilewright_tensor* logits,
                                           const tilewright_tensor* target,
                                           const tilewright_cross_entropy_options* given) {
  constexpr const char* op = "cross_entropy";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_cross_entropy_options TILEWRIGHT_CROSS_ENTROPY_OPTIONS);
    cross_entropy(required(op, "loss", loss), required(op, "logits", logits), required(op, "target", target),
                  {.gradient = optional(o.gradient),
                   .log_sum = optional(o.log_sum),
                   .factor = optional(o.factor),
                   .scale = o.scale,
                   .stream = o.stream});
  });
}
tilewright_status tilewright_quantise(const tilewright_tensor* y, const tilewright_tensor* scales,
                                      const tilewright_tensor* x, const tilewright_quantise_options* given) {
  constexpr const char* op = "quantise";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_quantise_options TILEWRIGHT_QUANTISE_OPTIONS);
    quantise(required(op, "y", y), required(op, "scales", scales), required(op, "x", x), {.stream = o.stream});
  });
}
tilewright_status tilewright_attention(const tilewright_tensor* o, const tilewright_tensor* q,
                                       const tilewright_tensor* k, const tilewright_tensor* v,
                                       const tilewright_attention_options* given) {
  constexpr const char* op = "attention";
  return guarded(op, [&] {
    const auto options = options_of(op, given, tilewright_attention_options TILEWRIGHT_ATTENTION_OPTIONS);
    attention(required(op, "o", o), required(op, "q", q), required(op, "k", k), required(op, "v", v),
              options_for(options));
  });
}
tilewright_status tilewright_attention_backward(const tilewright_tensor* dq, const tilewright_tensor* dk,
                                                const tilewright_tensor* dv, const tilewright_tensor* d_o,
                                                const tilewright_tensor* q, const tilewright_tensor* k,
                                                const tilewright_tensor* v, const tilewright_tensor* o,
                                                const tilewright_attention_options* given) {
  constexpr const char* op = "attention_backward";
  return guarded(op, [&] {
    const auto options = options_of(op, given, tilewright_attention_options TILEWRIGHT_ATTENTION_OPTIONS);
    attention_backward(required(op, "dq", dq), required(op, "dk", dk), required(op, "dv", dv), required(op, "d_o", d_o),
                       required(op, "q", q), required(op, "k", k), required(op, "v", v), required(op, "o", o),
                       options_for(options));
  });
}
tilewright_status tilewright_attention_decode(const tilewright_tensor* o, const tilewright_tensor* q,
                                              const tilewright_tensor* k, const tilewright_tensor* v,
                                              const tilewright_attention_decode_options* given) {
  constexpr const char* op = "attention_decode";
  return guarded(op, [&] {
    const auto n = options_of(op, given, tilewright_attention_decode_options TILEWRIGHT_ATTENTION_DECODE_OPTIONS);
    attention_decode(required(op, "o", o), required(op, "q", q), required(op, "k", k), required(op, "v", v),
                     {.scale = n.scale,
                      .causal = n.causal != 0,
                      .window_left = n.window_left,
                      .lse = optional(n.lse),
                      .key_counts = optional(n.key_counts),
                      .block_table = optional(n.block_table),
                      .stream = n.stream});
  });
}

tilewright_status tilewright_grouped_gemm(const tilewright_tensor* c, const tilewright_tensor* a,
                                          const tilewright_tensor* b, const tilewright_tensor* ends,
                                          const tilewright_grouped_gemm_options* given) {
  constexpr const char* op = "grouped_gemm";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_grouped_gemm_options TILEWRIGHT_GROUPED_GEMM_OPTIONS);
    grouped_gemm(required(op, "C", c), required(op, "A", a), required(op, "B", b), required(op, "ends", ends),
                 {.alpha = o.alpha, .stream = o.stream});
  });
}
tilewright_status tilewright_permute(const tilewright_tensor* y, const tilewright_tensor* x,
                                     const tilewright_map_options* given) {
  constexpr const char* op = "permute";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_map_options TILEWRIGHT_MAP_OPTIONS);
    permute(required(op, "y", y), required(op, "x", x), {.stream = o.stream});
  });
}
tilewright_status tilewright_elementwise(const tilewright_tensor* y, const tilewright_tensor* x, const char* expression,
                                         const tilewright_tensor* x2, const tilewright_map_options* given) {
  constexpr const char* op = "elementwise";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_map_options TILEWRIGHT_MAP_OPTIONS);
    elementwise(required(op, "y", y), required(op, "x", x), expression ? expression : "", optional(x2),
                {.stream = o.stream});
  });
}
tilewright_status tilewright_reduce(const tilewright_tensor* y, const tilewright_tensor* x,
                                    const tilewright_reduce_options* given) {
  constexpr const char* op = "reduce";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_reduce_options TILEWRIGHT_REDUCE_OPTIONS);
    const bool is_known = o.kind >= TILEWRIGHT_SUM && o.kind <= TILEWRIGHT_MAXIMUM;
    reduce(required(op, "y", y), required(op, "x", x),
           {.kind = is_known ? tilewright::reduce_kind(o.kind) : tilewright::reduce_kind(-1), .stream = o.stream});
  });
}
tilewright_status tilewright_choose_experts(const tilewright_tensor* expert, const tilewright_tensor* weight,
                                            const tilewright_tensor* logits,
                                            const tilewright_choose_experts_options* given) {
  constexpr const char* op = "choose_experts";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_choose_experts_options TILEWRIGHT_CHOOSE_EXPERTS_OPTIONS);
    choose_experts(required(op, "expert", expert), required(op, "weight", weight), required(op, "logits", logits),
                   {.is_normalised = o.is_normalised != 0, .stream = o.stream});
  });
}
tilewright_status tilewright_order_by_expert(const tilewright_tensor* ends, const tilewright_tensor* source,
                                             const tilewright_tensor* place, const tilewright_tensor* expert,
                                             const tilewright_routing_options* given) {
  constexpr const char* op = "order_by_expert";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_routing_options TILEWRIGHT_ROUTING_OPTIONS);
    order_by_expert(required(op, "ends", ends), required(op, "source", source), required(op, "place", place),
                    required(op, "expert", expert), {.stream = o.stream});
  });
}
tilewright_status tilewright_rows_to_experts(const tilewright_tensor* y, const tilewright_tensor* x,
                                             const tilewright_tensor* place, const tilewright_routing_options* given) {
  constexpr const char* op = "rows_to_experts";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_routing_options TILEWRIGHT_ROUTING_OPTIONS);
    rows_to_experts(required(op, "y", y), required(op, "x", x), required(op, "place", place), {.stream = o.stream});
  });
}
tilewright_status tilewright_rows_from_experts(const tilewright_tensor* y, const tilewright_tensor* x,
                                               const tilewright_tensor* place, const tilewright_tensor* weight,
                                               const tilewright_routing_options* given) {
  constexpr const char* op = "rows_from_experts";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_routing_options TILEWRIGHT_ROUTING_OPTIONS);
    rows_from_experts(required(op, "y", y), required(op, "x", x), required(op, "place", place), optional(weight),
                      {.stream = o.stream});
  });
}
tilewright_status tilewright_moe(const tilewright_tensor* y, const tilewright_tensor* x,
                                 const tilewright_tensor* logits, const tilewright_tensor* gate_up,
                                 const tilewright_tensor* down, const tilewright_moe_options* given) {
  constexpr const char* op = "moe";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_moe_options TILEWRIGHT_MOE_OPTIONS);
    moe(required(op, "y", y), required(op, "x", x), optional(logits), required(op, "gate_up", gate_up),
        required(op, "down", down), options_for(o));
  });
}
tilewright_status tilewright_moe_workspace_bytes(int64_t* bytes, const tilewright_tensor* x,
                                                 const tilewright_tensor* gate_up, const tilewright_tensor* down,
                                                 const tilewright_moe_options* given) {
  constexpr const char* op = "moe_workspace_bytes";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_moe_options TILEWRIGHT_MOE_OPTIONS);
    const auto size = moe_workspace_bytes(required(op, "x", x), required(op, "gate_up", gate_up),
                                          required(op, "down", down), options_for(o));
    if (bytes) *bytes = size;
  });
}

}  // extern "C"
