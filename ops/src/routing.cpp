// SPDX-License-Identifier: MIT
#include <tilewright/ops/routing.hpp>

#include <tilewright/jit/routing.hpp>

#include "moe_layer.hpp"
#include "rows_view.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

candidate describe_choose(const jit::choose_experts_problem& p, const device_facts&) {
  return kernel_for("choose_experts", p.type, jit::choose_experts(p));
}
candidate describe_order(const jit::order_by_expert_problem& p, const device_facts&) {
  return {.kernel = "order_by_expert",
          .reason = "by the number of experts",
          .source = jit::order_by_expert(p),
          .workspace_bytes = jit::workspace_bytes(p)};
}
candidate describe_rows(const jit::expert_rows_problem& p, const device_facts&) {
  return kernel_for(p.kind == expert_rows_kind::scatter ? "rows_to_experts" : "rows_from_experts", p.type,
                    jit::expert_rows(p));
}

/// A packed tensor of entries, one for each choice of each token, in any dimensions.
void* as_entries(const char* operation, const char* name, const tensor& t, element type, long_index_t count) {
  require_tensor(operation, name, t);
  long_index_t entries = 1;
  bool is_packed = true;
  for (int i = t.rank; i-- > 0; entries *= t.lengths[i])
    is_packed = is_packed && (t.lengths[i] == 1 || t.strides[i] == entries);
  if (t.type != type || entries != count || !is_packed)
    refuse(operation, std::string(name) + " is " + describe(t) + ", but must be " + std::to_string(count) + " packed " +
                          name_of(type));
  return t.data;
}

void move_rows(const char* name, expert_rows_kind kind, const tensor& y, const tensor& x, const tensor& position,
               const tensor& weight, void* stream) {
  const bool is_scatter = kind == expert_rows_kind::scatter;
  const rows_view from = as_rows(name, "x", x), to = as_rows(name, "y", y);
  if (to.type != from.type || to.cols != from.cols)
    refuse(name, "y is " + describe(y) + " and x " + describe(x) + "; types and rows' lengths must be equal");
  const index_t tokens = is_scatter ? from.rows : to.rows;
  require_tensor(name, "position", position, element::i32, {tokens, -1});
  const long_index_t choices = position.lengths[1];
  jit::expert_rows_problem p{.type = x.type, .kind = kind};
  p.args = {
      .x = from.data,
      .y = to.data,
      .position = static_cast<const index_t*>(as_entries(name, "position", position, element::i32, tokens * choices)),
      .tokens = tokens,
      .choices = index_t(choices),
      .cols = from.cols,
      .x_stride = from.stride,
      .y_stride = to.stride};
  if (weight.data)
    p.args.weight = static_cast<const float*>(as_entries(name, "weight", weight, element::f32, tokens * choices));
  const auto& a = p.args;
  run_single<describe_rows>(name,
                            key_of_all(name, p.type, a.x, static_cast<const void*>(a.y), a.weight != nullptr, a.tokens,
                                       a.choices, a.cols, a.x_stride, a.y_stride),
                            p, stream);
}

}  // namespace

void choose_for(const char* name, const tensor& expert, const tensor& weight, const tensor& logits,
                const choose_experts_options& o) {
  const rows_view x = as_rows(name, "logits", logits);
  require_tensor(name, "expert", expert, element::i32, {x.rows, -1});
  const long_index_t entries = expert.lengths[1], choices = entries - o.shared;
  if (o.shared < 0 || choices < 1 || choices > x.cols)
    refuse(name, "there are " + std::to_string(choices) + " choices of " + std::to_string(x.cols) + " experts" +
                     (o.shared == 0 ? "" : ", and " + std::to_string(o.shared) + " shared ones"));
  if (o.score_bias.data) require_vector(name, "score_bias", o.score_bias, element::f32, x.cols);
  jit::choose_experts_problem p{.type = logits.type};
  p.args = {.x = x.data,
            .expert = static_cast<index_t*>(as_entries(name, "expert", expert, element::i32, x.rows * entries)),
            .weight = static_cast<float*>(as_entries(name, "weight", weight, element::f32, x.rows * entries)),
            .tokens = x.rows,
            .experts = x.cols,
            .choices = index_t(choices),
            .x_stride = x.stride,
            .is_normalised = o.is_normalised,
            .score = o.score,
            .bias = static_cast<const float*>(o.score_bias.data),
            .groups = o.groups,
            .kept_groups = o.kept_groups,
            .shared = o.shared,
            .scale = o.scale};
  const auto& a = p.args;
  run_single<describe_choose>(name,
                              key_of_all(name, 0, p.type, a.x, a.tokens, a.experts, a.choices, a.x_stride, a.score,
                                         a.bias, a.groups, a.kept_groups, a.shared),
                              p, o.stream);
}
void choose_experts(const tensor& expert, const tensor& weight, const tensor& logits,
                    const choose_experts_options& options) {
  choose_for("choose_experts", expert, weight, logits, options);
}

void order_by_expert(const tensor& ends, const tensor& source, const tensor& position, const tensor& expert,
                     const routing_options& options) {
  constexpr const char* name = "order_by_expert";
  require_tensor(name, "expert", expert);
  long_index_t entries = 1;
  for (int i = 0; i < expert.rank; ++i) entries *= expert.lengths[i];
  if (entries > 0x7fffffff) refuse(name, "there are 2^31 entries or more; split the tokens");
  require_tensor(name, "ends", ends, element::i32, {-1});
  jit::order_by_expert_problem p;
  const auto list = [&](const char* what, const tensor& t, long_index_t count) {
    return static_cast<index_t*>(as_entries(name, what, t, element::i32, count));
  };
  p.args = {.expert = list("expert", expert, entries),
            .ends = list("ends", ends, ends.lengths[0]),
            .source = list("source", source, entries),
            .position = list("position", position, entries),
            .entries = index_t(entries),
            .experts = index_t(ends.lengths[0])};
  auto& a = p.args;
  run_single<describe_order>(name, key_of_all(name, a.entries, a.experts), p, options.stream,
                             {.workspace = reinterpret_cast<void**>(&a.counts)});
}

void rows_to_experts(const tensor& y, const tensor& x, const tensor& position, const routing_options& options) {
  move_rows("rows_to_experts", expert_rows_kind::scatter, y, x, position, {}, options.stream);
}
void rows_from_experts(const tensor& y, const tensor& x, const tensor& position, const tensor& weight,
                       const routing_options& options) {
  move_rows("rows_from_experts", expert_rows_kind::combine, y, x, position, weight, options.stream);
}

}  // namespace tilewright::ops
