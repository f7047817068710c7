// SPDX-License-Identifier: MIT
#include <tilewright/ops/moe.hpp>

#include <string>
#include <utility>

#include <tilewright/jit/grouped.hpp>
#include <tilewright/jit/routing.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/ops/quantise.hpp>
#include <tilewright/ops/routing.hpp>

#include "rows_view.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

constexpr const char* moe_call = "moe";

/// The tensors of a call, which are right.
struct moe_layer {
  rows_view x;
  matrix_view gate_up, down;  // gate_up (2 n, d), down (d, n); batches of experts
  element type, weights;      // of x and y; of gate_up and down
  index_t tokens = 0, experts = 0, entries = 0, n = 0, d = 0, choices = 0;  // choices: with the shared ones

  bool is_quantised() const { return weights == element::fp8; }
};

moe_layer layer_of(const tensor& x, const tensor& gate_up, const tensor& down, const moe_options& o) {
  if (gate_up.rank != 3 || down.rank != 3)
    refuse(moe_call, "gate_up and down have three dimensions: (experts, 2 n, d) and (experts, d, n)");
  moe_layer l{.x = as_rows(moe_call, "x", x),
              .gate_up = as_matrix(moe_call, "gate_up", gate_up),
              .down = as_matrix(moe_call, "down", down),
              .type = x.type,
              .weights = gate_up.type};
  if (l.type != element::f16 && l.type != element::bf16)
    refuse(moe_call, std::string("x has elements of ") + name_of(l.type) + "; they are f16 or bf16");
  const long_index_t experts = gate_up.lengths[0];
  l.d = l.x.cols, l.n = l.down.cols, l.experts = index_t(experts);
  if ((l.weights != x.type && !l.is_quantised()) || down.type != l.weights || down.lengths[0] != experts ||
      l.gate_up.cols != l.d || l.down.rows != l.d || l.gate_up.rows != 2 * long_index_t{l.n})
    refuse(moe_call,
           "x is " + describe(x) + ", gate_up " + describe(gate_up) + " and down " + describe(down) +
               "; they must be (tokens, d), (experts, 2 n, d) and (experts, d, n) of one type, or weights fp8");
  if (l.is_quantised() &&
      (l.type != element::bf16 || !l.down.along_cols || !o.gate_up_scale.data || !o.down_scale.data))
    refuse(moe_call,
           "weights of fp8 need an x of bf16, a down that is contiguous along its last dimension, and gate_up_scale "
           "and down_scale");
  if (!l.is_quantised() && (o.gate_up_scale.data || o.down_scale.data))
    refuse(moe_call, "gate_up_scale and down_scale are for weights of fp8");
  if (!l.gate_up.along_cols) refuse(moe_call, "gate_up must be contiguous along its last dimension");
  if (o.choices < 1 || o.shared < 0 || o.shared >= experts || o.choices > experts - o.shared)
    refuse(moe_call, "there are " + std::to_string(o.choices) + " choices and " + std::to_string(o.shared) +
                         " shared experts of " + std::to_string(experts) + " experts; choices must be 1 or more");
  l.choices = o.choices + o.shared;
  const long_index_t entries = long_index_t{l.x.rows} * l.choices;
  if (entries >= 1 << 30) refuse(moe_call, "tokens x choices is 2^30 or more; split the tokens");
  l.tokens = l.x.rows, l.entries = index_t(entries);
  return l;
}

/// Where scratch memory has what: offsets from its beginning.
struct moe_memory {
  long_index_t bytes = 0;
  long_index_t expert, weight, ends, source, position, counts, counts_bytes, hidden, results;
  long_index_t x_scale = 0, hidden_scale = 0, quantised_x = 0, quantised_hidden = 0;  // with weights of fp8

  moe_memory(const moe_layer& l, const moe_options& o) {
    const auto take = [&](long_index_t size) {
      const long_index_t first = bytes;
      bytes = (first + size + 255) / 256 * 256;
      return first;
    };
    const long_index_t entries = l.entries, list = entries * 4, size = bytes_of(l.type);
    counts_bytes = jit::workspace_bytes({.args = {.entries = l.entries, .experts = l.experts}});
    expert = o.expert.data ? 0 : take(list);
    weight = o.expert.data ? 0 : take(list);
    ends = take(l.experts * 4ll);
    source = take(list);
    position = take(list);
    counts = take(counts_bytes);
    hidden = take(entries * l.n * size);
    results = take(entries * l.d * size);
    if (!l.is_quantised()) return;
    x_scale = take(l.tokens * 4ll);
    hidden_scale = take(list);
    quantised_x = take(long_index_t{l.tokens} * l.d);
    quantised_hidden = take(entries * l.n);
  }
};

candidate describe_moe_choose(const jit::choose_experts_problem& p, const device_facts&) {
  return kernel_for("choose_experts", p.type, jit::choose_experts(p));
}
candidate describe_moe_order(const jit::order_by_expert_problem& p, const device_facts&) {
  return {.kernel = "order_by_expert", .reason = "by the number of experts", .source = jit::order_by_expert(p)};
}
candidate describe_moe_gemm(const jit::expert_problem& p, const device_facts& on) {
  candidate c = kernel_for(p.is_gate_up ? "expert_gate_up" : "expert_down", p.type, jit::expert_gemm(p));
  c.workspace_bytes = on.target == "sm_90a" ? hopper_gemm_workspace::bytes : 0;
  c.counts_in_workspace = true;
  return c;
}

/// Runs the kernel of a problem. `parts`: what its choice depends on.
template <auto Describe, class Problem, class... Parts>
void run_step(Problem& p, void* stream, void** workspace, const Parts&... parts) {
  run_single<Describe>(moe_call, key_of_all(moe_call, parts...), p, stream, {.workspace = workspace});
}

void choose_for(const moe_layer& l, const tensor& logits, index_t* expert, float* weight, const moe_options& o) {
  const rows_view x = as_rows(moe_call, "logits", logits);
  jit::choose_experts_problem p{.type = logits.type};
  auto& a = p.args;
  a = {.x = x.data, .expert = expert, .weight = weight, .tokens = l.tokens, .experts = x.cols};
  a.choices = o.choices, a.x_stride = x.stride, a.is_normalised = o.is_normalised, a.score = o.score;
  a.bias = static_cast<const float*>(o.score_bias.data);
  a.groups = o.groups, a.kept_groups = o.kept_groups, a.shared = o.shared, a.scale = o.scale;
  run_step<describe_moe_choose>(p, o.stream, nullptr, 0, p.type, a.x, a.tokens, a.experts, a.choices, a.x_stride,
                                a.score, a.bias, a.groups, a.kept_groups, a.shared);
}

void order_entries(const moe_layer& l, char* memory, const moe_memory& at, const index_t* expert, void* stream) {
  jit::order_by_expert_problem p;
  const auto list = [&](long_index_t offset) { return reinterpret_cast<index_t*>(memory + offset); };
  p.args = {expert, list(at.ends), list(at.source), list(at.position), list(at.counts), l.entries, l.experts};
  run_step<describe_moe_order>(p, stream, nullptr, 1, l.entries, l.experts);
}

/// What each column of one of the GEMMs has, by expert: its scale or bias.
struct expert_columns {
  const void* data = nullptr;
  long_index_t group_stride = 0, product_stride = 0;
  index_t step = 1;
};
/// alternates: columns of the gate and of `up`.
expert_columns columns_of(const char* name, const tensor& t, element type, const moe_layer& l, bool is_gate_up,
                          bool alternates) {
  if (!t.data) return {};
  require_tensor(moe_call, name, t, type, {l.experts, is_gate_up ? 2 * long_index_t{l.n} : l.d});
  if (t.strides[1] != 1) refuse(moe_call, std::string(name) + " must be contiguous along its last dimension");
  return {t.data, t.strides[0], alternates ? 1 : l.n, alternates ? 2 : 1};
}

/// One of the GEMMs: sets what both have in common.
void multiply(jit::expert_problem& p, const moe_layer& l, const index_t* ends, const moe_options& o) {
  expert_args& a = p.args;
  const bool alternates = p.is_gate_up && o.is_interleaved;
  p.type = l.weights, p.result = l.type;
  a.m = l.entries;
  a.groups = l.experts, a.ends = ends;
  const expert_columns bias = p.is_gate_up ? columns_of("gate_up_bias", o.gate_up_bias, l.type, l, true, alternates)
                                           : columns_of("down_bias", o.down_bias, l.type, l, false, alternates),
                       scale = p.is_gate_up
                                   ? columns_of("gate_up_scale", o.gate_up_scale, element::f32, l, true, alternates)
                                   : columns_of("down_scale", o.down_scale, element::f32, l, false, alternates);
  a.bias = bias.data, a.group_stride_bias = bias.group_stride, a.product_stride_bias = bias.product_stride;
  a.column_scale = static_cast<const float*>(scale.data);
  a.group_stride_scale = scale.group_stride, a.product_stride_scale = scale.product_stride;
  a.column_step = alternates ? 2 : 1;
  run_step<describe_moe_gemm>(p, o.stream, &a.workspace, 2, p.type, p.result, p.is_gate_up, p.b_along_k, a.a, a.b, a.c,
                              a.bias, a.m, a.n, a.k, a.lda, a.ldb, a.ldc, a.batch_stride_b, a.product_stride_b,
                              a.groups, a.tokens, a.choices);
}

/// Rows as fp8, with a scale for each.
void quantise_rows_of(const moe_layer& l, void* to, float* scales, const void* from, index_t rows, index_t cols,
                      long_index_t stride, void* stream) {
  quantise(packed(to, element::fp8, {rows, cols}), packed(scales, element::f32, {rows}),
           strided(from, l.type, {rows, cols}, {stride, 1}), {.stream = stream});
}

void multiply_gate_up(const moe_layer& l, char* memory, const moe_memory& at, const moe_options& o) {
  jit::expert_problem p{.is_gate_up = true};
  expert_args& a = p.args;
  const index_t ld = l.gate_up.ld;
  a.a = l.x.data, a.lda = index_t(l.x.stride);
  if (l.is_quantised()) {
    auto* const scales = reinterpret_cast<float*>(memory + at.x_scale);
    quantise_rows_of(l, memory + at.quantised_x, scales, l.x.data, l.tokens, l.d, l.x.stride, o.stream);
    a.a = memory + at.quantised_x, a.lda = l.d, a.row_scale = scales;
  }
  a.b = l.gate_up.data, a.c = memory + at.hidden;
  a.n = l.n, a.k = l.d;
  a.ldb = o.is_interleaved ? 2 * ld : ld, a.ldc = l.n;
  a.batch_stride_b = l.gate_up.batch_stride;
  a.product_stride_b = o.is_interleaved ? ld : long_index_t{l.n} * ld;
  a.source = reinterpret_cast<const index_t*>(memory + at.source);
  a.choices = l.choices, a.tokens = l.tokens;
  a.swiglu_alpha = o.swiglu_alpha, a.swiglu_limit = o.swiglu_limit == 0 ? __builtin_inff() : o.swiglu_limit,
  a.swiglu_shift = o.swiglu_shift;
  multiply(p, l, reinterpret_cast<const index_t*>(memory + at.ends), o);
}

void multiply_down(const moe_layer& l, char* memory, const moe_memory& at, const moe_options& o) {
  jit::expert_problem p{.is_gate_up = false, .b_along_k = l.down.along_cols};
  expert_args& a = p.args;
  a.a = memory + at.hidden;
  if (l.is_quantised()) {
    auto* const scales = reinterpret_cast<float*>(memory + at.hidden_scale);
    quantise_rows_of(l, memory + at.quantised_hidden, scales, a.a, l.entries, l.n, l.n, o.stream);
    a.a = memory + at.quantised_hidden, a.row_scale = scales;
  }
  a.b = l.down.data, a.c = memory + at.results;
  a.n = l.d, a.k = l.n;
  a.lda = l.n, a.ldb = l.down.ld, a.ldc = l.d;
  a.batch_stride_b = l.down.batch_stride;
  multiply(p, l, reinterpret_cast<const index_t*>(memory + at.ends), o);
}

bool has_no_tokens(const tensor& t) { return t.rank == 2 && t.lengths[0] == 0; }

}  // namespace

void moe(const tensor& y, const tensor& x, const tensor& logits, const tensor& gate_up, const tensor& down,
         const moe_options& o) {
  if (has_no_tokens(x) && has_no_tokens(y)) return;
  const moe_layer l = layer_of(x, gate_up, down, o);
  const rows_view out = as_rows(moe_call, "y", y);
  if (out.type != l.type || out.rows != l.tokens || out.cols != l.d)
    refuse(moe_call, "y is " + describe(y) + " and x " + describe(x) + "; types and lengths must be equal");
  if ((o.expert.data == nullptr) != (o.weight.data == nullptr))
    refuse(moe_call, "expert and weight belong together: give both, or none");
  if (logits.data == nullptr && o.expert.data == nullptr)
    refuse(moe_call, "logits is null: give the gate's output, or the options expert and weight");
  if (logits.data) {
    const rows_view given = as_rows(moe_call, "logits", logits);
    if (given.rows != l.tokens || given.cols != l.experts - o.shared)
      refuse(moe_call, "logits is " + describe(logits) + ", but must be (" + std::to_string(l.tokens) + ", " +
                           std::to_string(l.experts - o.shared) + ")");
  }
  if (o.score_bias.data) require_vector(moe_call, "score_bias", o.score_bias, element::f32, l.experts - o.shared);
  const moe_memory at(l, o);
  const held_workspace held = hold_workspace(moe_call, o.stream, at.bytes, o.workspace, o.workspace_bytes);
  auto* const memory = static_cast<char*>(held.data);
  const auto entries = [&](const tensor& given, element type, long_index_t offset) {
    if (!given.data) return packed(memory + offset, type, {l.tokens, l.choices});
    require_tensor(moe_call, type == element::i32 ? "expert" : "weight", given, type, {l.tokens, l.choices});
    if (given.strides[1] != 1 || given.strides[0] != l.choices) refuse(moe_call, "expert and weight must be packed");
    return given;
  };
  const tensor expert = entries(o.expert, element::i32, at.expert), weight = entries(o.weight, element::f32, at.weight);
  run_steps([&] {
    if (logits.data) choose_for(l, logits, static_cast<index_t*>(expert.data), static_cast<float*>(weight.data), o);
    order_entries(l, memory, at, static_cast<const index_t*>(expert.data), o.stream);
    multiply_gate_up(l, memory, at, o);
    multiply_down(l, memory, at, o);
    rows_from_experts(y, packed(memory + at.results, l.type, {l.entries, l.d}),
                      packed(memory + at.position, element::i32, {l.tokens, l.choices}), weight, {.stream = o.stream});
  });
}

long_index_t moe_workspace_bytes(const tensor& x, const tensor& gate_up, const tensor& down, const moe_options& o) {
  return has_no_tokens(x) ? 0 : moe_memory(layer_of(x, gate_up, down, o), o).bytes;
}

}  // namespace tilewright::ops
