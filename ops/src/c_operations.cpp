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
          .sinks = optional(o.sinks),
          .d_sinks = optional(o.d_sinks),
          .block_mask = optional(o.block_mask),
          .mask_queries = o.mask_queries,
          .mask_keys = o.mask_keys,
          .stream = o.stream};
}

expert_score score_of(int32_t score) { return expert_score(score == 0 || score == 1 ? score : -1); }

moe_options options_for(const tilewright_moe_options& o) {
  return {.choices = o.choices,
          .is_normalised = o.is_normalised != 0,
          .score = score_of(o.score),
          .score_bias = optional(o.score_bias),
          .groups = o.groups,
          .kept_groups = o.kept_groups,
          .scale = o.scale,
          .shared = o.shared,
          .capacity = o.capacity,
          .expert = optional(o.expert),
          .weight = optional(o.weight),
          .first_expert = o.first_expert,
          .gate_up_scale = optional(o.gate_up_scale),
          .down_scale = optional(o.down_scale),
          .gate_up_zeros = optional(o.gate_up_zeros),
          .down_zeros = optional(o.down_zeros),
          .gate_up_factor = optional(o.gate_up_factor),
          .down_factor = optional(o.down_factor),
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
  return call_c("softmax", given, TILEWRIGHT_SOFTMAX_OPTIONS, [&](const operands& in, const auto& o) {
    softmax(in("y", y), in("x", x), {.is_log = o.is_log != 0, .stream = o.stream});
  });
}
tilewright_status tilewright_rms_norm(const tilewright_tensor* y, const tilewright_tensor* x,
                                      const tilewright_tensor* weight, const tilewright_norm_options* given) {
  return call_c("rms_norm", given, TILEWRIGHT_NORM_OPTIONS, [&](const operands& in, const auto& o) {
    rms_norm(in("y", y), in("x", x), in("weight", weight), options_for(o));
  });
}
tilewright_status tilewright_layer_norm(const tilewright_tensor* y, const tilewright_tensor* x,
                                        const tilewright_tensor* weight, const tilewright_norm_options* given) {
  return call_c("layer_norm", given, TILEWRIGHT_NORM_OPTIONS, [&](const operands& in, const auto& o) {
    layer_norm(in("y", y), in("x", x), in("weight", weight), options_for(o));
  });
}
tilewright_status tilewright_rms_norm_gradient(const tilewright_tensor* dx, const tilewright_tensor* d_weight,
                                               const tilewright_tensor* dy, const tilewright_tensor* x,
                                               const tilewright_tensor* weight, const tilewright_tensor* rstd,
                                               const tilewright_norm_gradient_options* given) {
  return call_c("rms_norm_gradient", given, TILEWRIGHT_NORM_GRADIENT_OPTIONS, [&](const operands& in, const auto& o) {
    rms_norm_gradient(in("dx", dx), in("d_weight", d_weight), in("dy", dy), in("x", x), in("weight", weight),
                      in("rstd", rstd), options_for(o));
  });
}
tilewright_status tilewright_layer_norm_gradient(const tilewright_tensor* dx, const tilewright_tensor* d_weight,
                                                 const tilewright_tensor* dy, const tilewright_tensor* x,
                                                 const tilewright_tensor* weight, const tilewright_tensor* mean,
                                                 const tilewright_tensor* rstd,
                                                 const tilewright_norm_gradient_options* given) {
  return call_c("layer_norm_gradient", given, TILEWRIGHT_NORM_GRADIENT_OPTIONS, [&](const operands& in, const auto& o) {
    layer_norm_gradient(in("dx", dx), in("d_weight", d_weight), in("dy", dy), in("x", x), in("weight", weight),
                        in("mean", mean), in("rstd", rstd), options_for(o));
  });
}
tilewright_status tilewright_rotary(const tilewright_tensor* y, const tilewright_tensor* x,
                                    const tilewright_tensor* cos, const tilewright_tensor* sin,
                                    const tilewright_rotary_options* given) {
  return call_c("rotary", given, TILEWRIGHT_ROTARY_OPTIONS, [&](const operands& in, const auto& o) {
    rotary(in("y", y), in("x", x), in("cos", cos), in("sin", sin),
           {.is_interleaved = o.is_interleaved != 0,
            .is_inverse = o.is_inverse != 0,
            .position = optional(o.position),
            .stream = o.stream});
  });
}
tilewright_status tilewright_cross_entropy(const tilewright_tensor* loss, const tilewright_tensor* logits,
                                           const tilewright_tensor* target,
                                           const tilewright_cross_entropy_options* given) {
  return call_c("cross_entropy", given, TILEWRIGHT_CROSS_ENTROPY_OPTIONS, [&](const operands& in, const auto& o) {
    cross_entropy(in("loss", loss), in("logits", logits), in("target", target),
                  {.gradient = optional(o.gradient),
                   .log_sum = optional(o.log_sum),
                   .factor = optional(o.factor),
                   .scale = o.scale,
                   .stream = o.stream});
  });
}
tilewright_status tilewright_quantise(const tilewright_tensor* y, const tilewright_tensor* scales,
                                      const tilewright_tensor* x, const tilewright_quantise_options* given) {
  return call_c("quantise", given, TILEWRIGHT_QUANTISE_OPTIONS, [&](const operands& in, const auto& o) {
    quantise(in("y", y), in("scales", scales), in("x", x), {.stream = o.stream});
  });
}
tilewright_status tilewright_attention(const tilewright_tensor* o, const tilewright_tensor* q,
                                       const tilewright_tensor* k, const tilewright_tensor* v,
                                       const tilewright_attention_options* given) {
  return call_c("attention", given, TILEWRIGHT_ATTENTION_OPTIONS, [&](const operands& in, const auto& options) {
    attention(in("o", o), in("q", q), in("k", k), in("v", v), options_for(options));
  });
}
tilewright_status tilewright_attention_backward(const tilewright_tensor* dq, const tilewright_tensor* dk,
                                                const tilewright_tensor* dv, const tilewright_tensor* d_o,
                                                const tilewright_tensor* q, const tilewright_tensor* k,
                                                const tilewright_tensor* v, const tilewright_tensor* o,
                                                const tilewright_attention_options* given) {
  return call_c("attention_backward", given, TILEWRIGHT_ATTENTION_OPTIONS,
                [&](const operands& in, const auto& options) {
                  attention_backward(in("dq", dq), in("dk", dk), in("dv", dv), in("d_o", d_o), in("q", q), in("k", k),
                                     in("v", v), in("o", o), options_for(options));
                });
}
tilewright_status tilewright_attention_decode(const tilewright_tensor* o, const tilewright_tensor* q,
                                              const tilewright_tensor* k, const tilewright_tensor* v,
                                              const tilewright_attention_decode_options* given) {
  return call_c("attention_decode", given, TILEWRIGHT_ATTENTION_DECODE_OPTIONS, [&](const operands& in, const auto& n) {
    attention_decode(in("o", o), in("q", q), in("k", k), in("v", v),
                     {.scale = n.scale,
                      .causal = n.causal != 0,
                      .window_left = n.window_left,
                      .lse = optional(n.lse),
                      .key_counts = optional(n.key_counts),
                      .block_table = optional(n.block_table),
                      .query_starts = optional(n.query_starts),
                      .max_queries = n.max_queries,
                      .k_scales = optional(n.k_scales),
                      .v_scales = optional(n.v_scales),
                      .sinks = optional(n.sinks),
                      .stream = n.stream});
  });
}

tilewright_status tilewright_grouped_gemm(const tilewright_tensor* c, const tilewright_tensor* a,
                                          const tilewright_tensor* b, const tilewright_tensor* ends,
                                          const tilewright_grouped_gemm_options* given) {
  return call_c("grouped_gemm", given, TILEWRIGHT_GROUPED_GEMM_OPTIONS, [&](const operands& in, const auto& o) {
    grouped_gemm(in("C", c), in("A", a), in("B", b), in("ends", ends), {.alpha = o.alpha, .stream = o.stream});
  });
}
tilewright_status tilewright_permute(const tilewright_tensor* y, const tilewright_tensor* x,
                                     const tilewright_map_options* given) {
  return call_c("permute", given, TILEWRIGHT_MAP_OPTIONS,
                [&](const operands& in, const auto& o) { permute(in("y", y), in("x", x), {.stream = o.stream}); });
}
tilewright_status tilewright_elementwise(const tilewright_tensor* y, const tilewright_tensor* x, const char* expression,
                                         const tilewright_tensor* x2, const tilewright_map_options* given) {
  return call_c("elementwise", given, TILEWRIGHT_MAP_OPTIONS, [&](const operands& in, const auto& o) {
    elementwise(in("y", y), in("x", x), expression ? expression : "", optional(x2), {.stream = o.stream});
  });
}
tilewright_status tilewright_reduce(const tilewright_tensor* y, const tilewright_tensor* x,
                                    const tilewright_reduce_options* given) {
  return call_c("reduce", given, TILEWRIGHT_REDUCE_OPTIONS, [&](const operands& in, const auto& o) {
    const bool is_known = o.kind >= TILEWRIGHT_SUM && o.kind <= TILEWRIGHT_MAXIMUM;
    reduce(in("y", y), in("x", x),
           {.kind = is_known ? tilewright::reduce_kind(o.kind) : tilewright::reduce_kind(-1), .stream = o.stream});
  });
}
tilewright_status tilewright_choose_experts(const tilewright_tensor* expert, const tilewright_tensor* weight,
                                            const tilewright_tensor* logits,
                                            const tilewright_choose_experts_options* given) {
  return call_c("choose_experts", given, TILEWRIGHT_CHOOSE_EXPERTS_OPTIONS, [&](const operands& in, const auto& o) {
    choose_experts(in("expert", expert), in("weight", weight), in("logits", logits),
                   {.is_normalised = o.is_normalised != 0,
                    .stream = o.stream,
                    .score = score_of(o.score),
                    .score_bias = optional(o.score_bias),
                    .groups = o.groups,
                    .kept_groups = o.kept_groups,
                    .scale = o.scale,
                    .shared = o.shared});
  });
}
tilewright_status tilewright_order_by_expert(const tilewright_tensor* ends, const tilewright_tensor* source,
                                             const tilewright_tensor* position, const tilewright_tensor* expert,
                                             const tilewright_routing_options* given) {
  return call_c("order_by_expert", given, TILEWRIGHT_ROUTING_OPTIONS, [&](const operands& in, const auto& o) {
    order_by_expert(in("ends", ends), in("source", source), in("position", position), in("expert", expert),
                    {.stream = o.stream});
  });
}
tilewright_status tilewright_rows_to_experts(const tilewright_tensor* y, const tilewright_tensor* x,
                                             const tilewright_tensor* position,
                                             const tilewright_routing_options* given) {
  return call_c("rows_to_experts", given, TILEWRIGHT_ROUTING_OPTIONS, [&](const operands& in, const auto& o) {
    rows_to_experts(in("y", y), in("x", x), in("position", position), {.stream = o.stream});
  });
}
tilewright_status tilewright_rows_from_experts(const tilewright_tensor* y, const tilewright_tensor* x,
                                               const tilewright_tensor* position, const tilewright_tensor* weight,
                                               const tilewright_routing_options* given) {
  return call_c("rows_from_experts", given, TILEWRIGHT_ROUTING_OPTIONS, [&](const operands& in, const auto& o) {
    rows_from_experts(in("y", y), in("x", x), in("position", position), optional(weight), {.stream = o.stream});
  });
}
tilewright_status tilewright_moe(const tilewright_tensor* y, const tilewright_tensor* x,
                                 const tilewright_tensor* logits, const tilewright_tensor* gate_up,
                                 const tilewright_tensor* down, const tilewright_moe_options* given) {
  return call_c("moe", given, TILEWRIGHT_MOE_OPTIONS, [&](const operands& in, const auto& o) {
    moe(in("y", y), in("x", x), optional(logits), in("gate_up", gate_up), in("down", down), options_for(o));
  });
}
tilewright_status tilewright_expert_parallel_moe(const tilewright_tensor* y, const tilewright_tensor* x,
                                                 const tilewright_tensor* logits, const tilewright_tensor* gate_up,
                                                 const tilewright_tensor* down, const tilewright_communicator* ranks,
                                                 const tilewright_moe_options* given) {
  constexpr const char* op = "expert_parallel_moe";
  return call_c(op, given, TILEWRIGHT_MOE_OPTIONS, [&](const operands& in, const auto& o) {
    expert_parallel_moe(in("y", y), in("x", x), optional(logits), in("gate_up", gate_up), in("down", down),
                        as_communicator(op, ranks), options_for(o));
  });
}
tilewright_status tilewright_moe_gradient(const tilewright_tensor* d_x, const tilewright_tensor* d_logits,
                                          const tilewright_tensor* d_weight, const tilewright_tensor* d_gate_up,
                                          const tilewright_tensor* d_down, const tilewright_tensor* dy,
                                          const tilewright_tensor* x, const tilewright_tensor* logits,
                                          const tilewright_tensor* gate_up, const tilewright_tensor* down,
                                          const tilewright_moe_options* given) {
  constexpr const char* op = "moe_gradient";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_moe_options TILEWRIGHT_MOE_OPTIONS);
    moe_gradient({.x = optional(d_x),
                  .logits = optional(d_logits),
                  .weight = optional(d_weight),
                  .gate_up = optional(d_gate_up),
                  .down = optional(d_down),
                  .gate_up_bias = optional(o.d_gate_up_bias),
                  .down_bias = optional(o.d_down_bias)},
                 required(op, "dy", dy), required(op, "x", x), optional(logits), required(op, "gate_up", gate_up),
                 required(op, "down", down), options_for(o));
  });
}
tilewright_status tilewright_moe_gradient_workspace_bytes(int64_t* bytes, const tilewright_tensor* x,
                                                          const tilewright_tensor* gate_up,
                                                          const tilewright_tensor* down,
                                                          const tilewright_moe_options* given) {
  constexpr const char* op = "moe_gradient_workspace_bytes";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_moe_options TILEWRIGHT_MOE_OPTIONS);
    const auto size = moe_gradient_workspace_bytes(required(op, "x", x), required(op, "gate_up", gate_up),
                                                   required(op, "down", down), options_for(o));
    if (bytes) *bytes = size;
  });
}
tilewright_status tilewright_moe_workspace_bytes(int64_t* bytes, const tilewright_tensor* x,
                                                 const tilewright_tensor* gate_up, const tilewright_tensor* down,
                                                 const tilewright_moe_options* given) {
  return call_c("moe_workspace_bytes", given, TILEWRIGHT_MOE_OPTIONS, [&](const operands& in, const auto& o) {
    const auto size = moe_workspace_bytes(in("x", x), in("gate_up", gate_up), in("down", down), options_for(o));
    if (bytes) *bytes = size;
  });
}

}  // extern "C"
