// SPDX-License-Identifier: MIT
#include <tilewright/ops/moe.hpp>

#include <tilewright/jit/routing.hpp>
#include <tilewright/ops/grouped_gemm.hpp>
#include <tilewright/ops/map.hpp>
#include <tilewright/ops/routing.hpp>

#include "moe_layer.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

constexpr const char* gradient_call = "moe_gradient";

candidate describe_choose_gradient(const jit::choose_experts_gradient_problem& p, const device_facts&) {
  return kernel_for("choose_experts_gradient", p.type, jit::choose_experts_gradient(p));
}

candidate describe_column_sums(const jit::expert_column_sums_problem& p, const device_facts&) {
  return kernel_for("expert_column_sums", p.type, jit::expert_column_sums(p));
}

/// Scratch memory: of rows of entries, in the order of experts.
struct gradient_memory {
  moe_routing routing;
  tensor x, dy;               // (entries, d): rows of tokens; x becomes its own gradient
  tensor products, halves;    // (entries, 2 n): the first GEMM's result, as it writes it and with one half first
  tensor d_hidden, hidden;    // (entries, n): down's gradient of SwiGLU, without weights; SwiGLU times weights
  tensor d_halves, d_weight;  // (entries, 2 n); (tokens, choices)
  tensor bias;                // of gate and up, with one half first

  gradient_memory(scratch_memory& memory, const moe_layer& l, const moe_options& o, const tensor& weight_gradient)
      : routing(take_routing(gradient_call, memory, l, o)) {
    const auto rows = [&](long_index_t cols) { return memory.take(l.type, {l.entries, cols}); };
    x = rows(l.d), dy = rows(l.d);
    products = rows(2ll * l.n), halves = o.is_interleaved ? rows(2ll * l.n) : products;
    d_hidden = rows(l.n), hidden = rows(l.n), d_halves = rows(2ll * l.n);
    bias = o.is_interleaved && o.gate_up_bias.data ? memory.take(l.type, {l.experts, 2ll * l.n}) : o.gate_up_bias;
    d_weight = weight_gradient.data ? weight_gradient : memory.take(element::f32, {l.tokens, l.choices});
  }
};

void differentiate_choice(const moe_layer& l, const gradient_memory& m, const tensor& d_logits, const tensor& logits,
                          const moe_options& o) {
  const rows_view x = as_rows(gradient_call, "logits", logits),
                  dx = as_rows_like(gradient_call, "d_logits", d_logits, logits, logits.type);
  jit::choose_experts_gradient_problem p{.type = logits.type};
  auto& f = p.args.forward;
  f = {.x = x.data,
       .expert = static_cast<index_t*>(m.routing.expert.data),
       .weight = static_cast<float*>(m.routing.weight.data),
       .tokens = l.tokens,
       .experts = x.cols};
  f.choices = o.choices, f.x_stride = x.stride, f.is_normalised = o.is_normalised, f.score = o.score;
  f.groups = o.groups, f.kept_groups = o.kept_groups, f.shared = o.shared, f.scale = o.scale;
  p.args.dweight = static_cast<const float*>(m.d_weight.data);
  p.args.dx = dx.data, p.args.dx_stride = dx.stride;
  run_single<describe_choose_gradient>(gradient_call,
                                       key_of_all(gradient_call, 0, p.type, f.tokens, f.experts, f.choices, f.shared,
                                                  f.x_stride, p.args.dx_stride, f.groups, f.kept_groups, f.score),
                                       p, o.stream);
}

/// to[e] = sum of the expert's rows, each times the weight of its entry if it is given.
void add_up_columns(const moe_layer& l, const moe_routing& r, const tensor& to, const tensor& rows,
                    const tensor& weight, void* stream) {
  if (!to.data) return;
  jit::expert_column_sums_problem p{.type = l.type};
  auto& a = p.args;
  a = {.x = rows.data,
       .y = to.data,
       .ends = r.ends_data(),
       .source = static_cast<const index_t*>(r.source.data),
       .weight = static_cast<const float*>(weight.data),
       .rows = l.entries,
       .cols = index_t(rows.lengths[1]),
       .experts = l.experts,
       .x_stride = rows.strides[0],
       .y_stride = to.strides[0]};
  run_single<describe_column_sums>(gradient_call,
                                   key_of_all(gradient_call, 1, p.type, a.x, static_cast<const void*>(a.y), a.rows,
                                              a.cols, a.experts, a.x_stride, a.y_stride),
                                   p, stream);
}

void require_gradients(const moe_layer& l, const moe_gradients& d, const tensor& dy, const tensor& x,
                       const tensor& logits, const tensor& gate_up, const tensor& down, const moe_options& o) {
  if (l.gate_up.format != expert_format::plain) refuse(gradient_call, "weights of 8 or 4 bits have no gradient");
  require_bias(gradient_call, "gate_up_bias", o.gate_up_bias, l, 2 * long_index_t{l.n});
  require_bias(gradient_call, "down_bias", o.down_bias, l, l.d);
  require_bias(gradient_call, "d_gate_up_bias", d.gate_up_bias, l, 2 * long_index_t{l.n});
  require_bias(gradient_call, "d_down_bias", d.down_bias, l, l.d);
  const auto require_like = [](const char* name, const tensor& t, const tensor& like) {
    if (!t.data) return;
    require_tensor(gradient_call, name, t);
    bool is_equal = t.type == like.type && t.rank == like.rank;
    for (int i = 0; i < t.rank && is_equal; ++i) is_equal = t.lengths[i] == like.lengths[i];
    if (!is_equal)
      refuse(gradient_call, std::string(name) + " is " + describe(t) + ", but must be as " + describe(like));
  };
  require_tensor(gradient_call, "dy", dy);
  require_like("dy", dy, x);
  require_like("d_x", d.x, x);
  require_like("d_gate_up", d.gate_up, gate_up);
  require_like("d_down", d.down, down);
  if (d.logits.data && !logits.data) refuse(gradient_call, "d_logits needs logits");
  if (d.logits.data) require_like("d_logits", d.logits, logits);
  if (!d.weight.data) return;
  require_tensor(gradient_call, "d_weight", d.weight, element::f32, {l.tokens, l.choices});
  if (d.weight.strides[1] != 1 || d.weight.strides[0] != l.choices) refuse(gradient_call, "d_weight must be packed");
}

}  // namespace

void moe_gradient(const moe_gradients& d, const tensor& dy, const tensor& x, const tensor& logits,
                  const tensor& gate_up, const tensor& down, const moe_options& o) {
  if (x.rank == 2 && x.lengths[0] == 0) {
    for (const tensor* weights : {&d.gate_up, &d.down, &d.gate_up_bias, &d.down_bias})
      if (weights->data) elementwise(*weights, *weights, "0.0f", {}, {.stream = o.stream});
    return;
  }
  const moe_layer l = moe_layer_of(gradient_call, x, gate_up, down, o);
  require_routing(gradient_call, l, logits, o);
  require_gradients(l, d, dy, x, logits, gate_up, down, o);
  scratch_memory sizes;
  (void)gradient_memory(sizes, l, o, d.weight);
  const held_workspace held = hold_workspace(gradient_call, o.stream, sizes.bytes, o.workspace, o.workspace_bytes);
  scratch_memory scratch{.base = static_cast<char*>(held.data)};
  const gradient_memory m(scratch, l, o, d.weight);
  const moe_routing& r = m.routing;
  const auto multiply = [&](const tensor& c, const tensor& a, const tensor& b) {
    grouped_gemm(c, a, b, r.ends, {.stream = o.stream});
  };
  run_steps([&] {
    if (!o.expert.data) choose_entries(gradient_call, r, logits, o);
    order_entries(gradient_call, l, r, o);
    rows_to_experts(m.x, x, r.position, {.stream = o.stream});
    rows_to_experts(m.dy, dy, r.position, {.stream = o.stream});
    multiply(m.products, m.x, transposed(gate_up));  // (entries, 2 n) = x (entries, d) W^T
    if (o.is_interleaved) separate_halves(m.halves, m.products, o.stream);
    multiply(m.d_hidden, m.dy, down);  // (entries, n) = dy (entries, d) W (d, n)
    if (m.bias.data != o.gate_up_bias.data) separate_halves(m.bias, o.gate_up_bias, o.stream);
    activate_rows(gradient_call, l, r,
                  {.y = m.hidden,
                   .x = m.halves,
                   .bias = m.bias,
                   .dx = m.d_halves,
                   .dy = m.d_hidden,
                   .dweight = m.d_weight,
                   .dresult = o.down_bias.data ? m.dy : tensor{}},
                  o);
    if (o.is_interleaved) alternate_halves(m.products, m.d_halves, o.stream);
    const tensor& d_products = o.is_interleaved ? m.products : m.d_halves;
    add_up_columns(l, r, d.gate_up_bias, d_products, {}, o.stream);
    add_up_columns(l, r, d.down_bias, m.dy, r.weight, o.stream);
    if (d.down.data) multiply(d.down, transposed(m.dy), m.hidden);
    if (d.gate_up.data) multiply(d.gate_up, transposed(d_products), m.x);
    if (d.logits.data) differentiate_choice(l, m, d.logits, logits, o);
    if (!d.x.data) return;
    multiply(m.x, d_products, gate_up);  // (entries, d) = d_products (entries, 2 n) W (2 n, d)
    rows_from_experts(d.x, m.x, r.position, {}, {.stream = o.stream});
  });
}

long_index_t moe_gradient_workspace_bytes(const tensor& x, const tensor& gate_up, const tensor& down,
                                          const moe_options& o) {
  if (x.rank == 2 && x.lengths[0] == 0) return 0;
  scratch_memory sizes;
  (void)gradient_memory(sizes, moe_layer_of(gradient_call, x, gate_up, down, o), o, {});
  return sizes.bytes;
}

}  // namespace tilewright::ops
