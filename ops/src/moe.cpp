// SPDX-License-Identifier: MIT
#include <tilewright/ops/moe.hpp>

#include <optional>
#include <string>

#include <tilewright/jit/grouped.hpp>
#include <tilewright/jit/routing.hpp>
#include <tilewright/kernels/gemm/choice/grouped_choice.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/ops/quantise.hpp>
#include <tilewright/ops/routing.hpp>

#include "moe_layer.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

constexpr const char* moe_call = "moe";

candidate describe_moe_gemm(const jit::expert_problem& p, const device_facts& on) {
  const char* const name = !p.is_gate_up ? "expert_down" : p.gathers ? "expert_gate_up" : "expert_gate_up_rows";
  candidate c = kernel_for(name, p.type, jit::expert_gemm(p));
  c.workspace_bytes = on.target == "sm_90a" ? hopper_gemm_workspace::bytes : 0;
  c.counts_in_workspace = true;
  return c;
}
candidate describe_sum(const jit::expert_rows_problem& p, const device_facts&) {
  return kernel_for("rows_from_experts", p.type, jit::expert_rows(p));
}

candidate describe_dots(const jit::expert_dots_problem& p, const device_facts&) {
  return kernel_for(p.kind == expert_dots_kind::gate_up ? "expert_gate_up_dots" : "expert_down_dots", p.type,
                    jit::expert_dots(p));
}

/// Scratch memory of the GEMMs of which the first applies SwiGLU.
struct fused_memory {
  tensor hidden, results;  // results: before that, rows of x by expert, if the first GEMM does not gather them
  tensor x_codes = {}, x_scales = {}, hidden_codes = {}, hidden_scales = {};  // with weights of fp8
  bool gathers;  // many rows are copied before: TMA loads rows that are in order faster than lanes copy them

  fused_memory(scratch_memory& memory, const moe_layer& l)
      : gathers(has_few_rows_of_each_expert(l.entries, l.experts)) {
    hidden = memory.take(l.type, {l.entries, l.n});
    results = memory.take(l.type, {l.entries, l.d});
    if (!l.is_quantised()) return;
    const index_t rows = gathers ? l.tokens : l.entries;
    x_scales = memory.take(element::f32, {rows});
    hidden_scales = memory.take(element::f32, {l.entries});
    x_codes = memory.take(element::fp8, {rows, l.d});
    hidden_codes = memory.take(element::fp8, {l.entries, l.n});
  }
};

/// What each column of one of the GEMMs has, by expert: its scale or bias.
struct expert_columns {
  const void* data = nullptr;
  long_index_t group_stride = 0, product_stride = 0;
};
/// alternates: columns of the gate and of `up`.
expert_columns columns_of(const tensor& t, const moe_layer& l, bool alternates) {
  if (!t.data) return {};
  return {t.data, t.strides[0], alternates ? 1 : l.n};
}

/// One of the GEMMs: sets what both have in common.
void multiply(jit::expert_problem& p, const moe_layer& l, const moe_routing& r, const moe_options& o) {
  expert_args& a = p.args;
  const bool alternates = p.is_gate_up && o.is_interleaved;
  p.type = l.weights(), p.result = l.type;
  a.m = l.entries;
  a.groups = l.experts, a.ends = r.ends_data();
  const expert_columns bias = columns_of(p.is_gate_up ? o.gate_up_bias : o.down_bias, l, alternates),
                       scale = columns_of(p.is_gate_up ? o.gate_up_scale : o.down_scale, l, alternates);
  a.bias = bias.data, a.group_stride_bias = bias.group_stride, a.product_stride_bias = bias.product_stride;
  a.column_scale = static_cast<const float*>(scale.data);
  a.group_stride_scale = scale.group_stride, a.product_stride_scale = scale.product_stride;
  a.column_step = alternates ? 2 : 1;
  run_single<describe_moe_gemm>(moe_call,
                                key_of_all(moe_call, 2, p.type, p.result, p.is_gate_up, p.gathers, p.b_along_k, a.a,
                                           a.b, static_cast<const void*>(a.c), a.bias, a.m, a.n, a.k, a.lda, a.ldb,
                                           a.ldc, a.batch_stride_b, a.product_stride_b, a.groups, a.tokens, a.choices),
                                p, o.stream, {.workspace = &a.workspace});
}

void multiply_gate_up(const moe_layer& l, const moe_routing& r, const fused_memory& memory, const tensor& x,
                      const moe_options& o) {
  jit::expert_problem p{.is_gate_up = true, .gathers = memory.gathers};
  expert_args& a = p.args;
  const index_t ld = l.gate_up.codes.ld;
  const tensor& rows = memory.gathers ? x : memory.results;
  if (!memory.gathers) rows_to_experts(rows, x, r.position, {.stream = o.stream});
  a.a = rows.data, a.lda = memory.gathers ? index_t(l.x.stride) : l.d;
  if (l.is_quantised()) {
    quantise(memory.x_codes, memory.x_scales, rows, {.stream = o.stream});
    a.a = memory.x_codes.data, a.lda = l.d, a.row_scale = static_cast<const float*>(memory.x_scales.data);
  }
  a.b = l.gate_up.codes.data, a.c = memory.hidden.data;
  a.n = l.n, a.k = l.d;
  a.ldb = o.is_interleaved ? 2 * ld : ld, a.ldc = l.n;
  a.batch_stride_b = l.gate_up.codes.batch_stride;
  a.product_stride_b = o.is_interleaved ? ld : long_index_t{l.n} * ld;
  if (memory.gathers) a.source = static_cast<const index_t*>(r.source.data), a.choices = l.choices, a.tokens = l.tokens;
  const clamped_swiglu_function swiglu = swiglu_of(o);
  a.swiglu_alpha = swiglu.alpha, a.swiglu_limit = swiglu.limit, a.swiglu_shift = swiglu.shift;
  multiply(p, l, r, o);
}

void multiply_down(const moe_layer& l, const moe_routing& r, const fused_memory& memory, const moe_options& o) {
  jit::expert_problem p{.is_gate_up = false, .b_along_k = l.down.codes.along_cols};
  expert_args& a = p.args;
  a.a = memory.hidden.data;
  if (l.is_quantised()) {
    quantise(memory.hidden_codes, memory.hidden_scales, memory.hidden, {.stream = o.stream});
    a.a = memory.hidden_codes.data, a.row_scale = static_cast<const float*>(memory.hidden_scales.data);
  }
  a.b = l.down.codes.data, a.c = memory.results.data;
  a.n = l.d, a.k = l.n;
  a.lda = l.n, a.ldb = l.down.codes.ld, a.ldc = l.d;
  a.batch_stride_b = l.down.codes.batch_stride;
  multiply(p, l, r, o);
}

/// The weighted sum of each token's rows, which a bias of their expert is added to.
void add_up(const moe_layer& l, const moe_routing& r, const tensor& y, const tensor& results, const tensor& bias,
            const moe_options& o) {
  const rows_view to = as_rows(moe_call, "y", y);
  jit::expert_rows_problem p{.type = l.type, .kind = expert_rows_kind::combine};
  auto& a = p.args;
  a = {.x = results.data,
       .y = to.data,
       .position = static_cast<const index_t*>(r.position.data),
       .weight = static_cast<const float*>(r.weight.data),
       .tokens = l.tokens,
       .choices = l.choices,
       .cols = l.d,
       .x_stride = results.strides[0],
       .y_stride = to.stride};
  if (bias.data) a.bias = from_expert_0(bias, o), a.bias_stride = bias.strides[0];
  a.factor = static_cast<const float*>(from_expert_0(l.down.factor, o));
  if (a.bias || a.factor) a.expert = static_cast<const index_t*>(r.expert.data);
  run_single<describe_sum>(moe_call,
                           key_of_all(moe_call, 6, p.type, a.x, static_cast<const void*>(a.y), a.bias, a.tokens,
                                      a.choices, a.cols, a.x_stride, a.y_stride, a.bias_stride),
                           p, o.stream);
}

/// Both GEMMs of one token, the second with the weighted sum: neither needs the order of entries.
struct moe_dots {
  jit::expert_dots_problem gate_up, down;

  moe_dots(const moe_layer& l, const moe_routing& r, const tensor& hidden, const tensor& y, const tensor& x,
           const moe_options& o)
      : gate_up(of_kind(expert_dots_kind::gate_up, l, r, o)), down(of_kind(expert_dots_kind::down, l, r, o)) {
    auto& first = gate_up.args;
    const index_t step = o.is_interleaved ? 2 : 1, ld = l.gate_up.codes.ld;
    first.x = x.data, first.y = hidden.data, first.row_stride = l.n;
    first.n = l.n, first.k = l.d;
    set_weights(first, l.gate_up.codes, step * ld, o.is_interleaved ? ld : long_index_t{l.n} * ld);
    set_bias(first, columns_of(o.gate_up_bias, l, o.is_interleaved), step);
    first.function = swiglu_of(o);
    auto& second = down.args;
    second.x = hidden.data, second.row_stride = l.n, second.y = y.data;
    second.n = l.d, second.k = l.n;
    set_weights(second, l.down.codes, l.down.codes.ld, 0);
    set_bias(second, columns_of(o.down_bias, l, false), 1);
  }
  /// Whether the kernels take such a layer. With 4 tokens grouped GEMMs are faster (H200).
  bool can_run(const moe_layer& l) const {
    return l.tokens == 1 && l.gate_up.format == expert_format::plain && l.down.codes.along_cols &&
           jit::can_take_dots(gate_up) && jit::can_take_dots(down);
  }
  void run(const moe_options& o) {
    for (jit::expert_dots_problem* const p : {&gate_up, &down}) {
      const auto& a = p->args;
      run_single<describe_dots>(moe_call,
                                key_of_all(moe_call, 7, p->type, p->kind == expert_dots_kind::down, a.x, a.w, a.choices,
                                           a.n, a.k, a.row_stride, a.w_stride, a.expert_stride, a.product_stride),
                                *p, o.stream);
    }
  }

 private:
  static jit::expert_dots_problem of_kind(expert_dots_kind kind, const moe_layer& l, const moe_routing& r,
                                          const moe_options& o) {
    jit::expert_dots_problem p{.type = l.type, .kind = kind};
    auto& a = p.args;
    a.expert = static_cast<const index_t*>(r.expert.data), a.weight = static_cast<const float*>(r.weight.data);
    a.choices = l.choices, a.experts = l.experts;
    a.first_expert = o.first_expert, a.capacity = o.capacity;
    return p;
  }
  static void set_weights(expert_dots_args<void>& a, const matrix_view& w, index_t stride, long_index_t product) {
    a.w = w.data, a.w_stride = stride, a.expert_stride = w.batch_stride, a.product_stride = product;
  }
  static void set_bias(expert_dots_args<void>& a, const expert_columns& bias, index_t step) {
    a.bias = bias.data, a.bias_stride = bias.group_stride, a.bias_product_stride = bias.product_stride;
    a.bias_step = step;
  }
};

bool has_no_tokens(const tensor& t) { return t.rank == 2 && t.lengths[0] == 0; }

/// All scratch memory of a call.
struct moe_memory {
  moe_routing routing;
  std::optional<fused_memory> fused;
  std::optional<moe_steps> steps;

  moe_memory(scratch_memory& memory, const moe_layer& l, const moe_options& o)
      : routing(take_routing(moe_call, memory, l, o)) {
    if (l.is_fused())
      fused.emplace(memory, l);
    else
      steps.emplace(memory, l, o);
  }
};

}  // namespace

void moe(const tensor& y, const tensor& x, const tensor& logits, const tensor& gate_up, const tensor& down,
         const moe_options& o) {
  if (has_no_tokens(x) && has_no_tokens(y)) return;
  const moe_layer l = moe_layer_of(moe_call, x, gate_up, down, o);
  const rows_view out = as_rows(moe_call, "y", y);
  if (out.type != l.type || out.rows != l.tokens || out.cols != l.d)
    refuse(moe_call, "y is " + describe(y) + " and x " + describe(x) + "; types and lengths must be equal");
  require_routing(moe_call, l, logits, o);
  require_bias(moe_call, "gate_up_bias", o.gate_up_bias, l, 2 * long_index_t{l.n});
  require_bias(moe_call, "down_bias", o.down_bias, l, l.d);
  scratch_memory sizes;
  (void)moe_memory(sizes, l, o);
  const held_workspace held = hold_workspace(moe_call, o.stream, sizes.bytes, o.workspace, o.workspace_bytes);
  scratch_memory scratch{.base = static_cast<char*>(held.data)};
  const moe_memory memory(scratch, l, o);
  const moe_routing& r = memory.routing;
  std::optional<moe_dots> dots;
  if (memory.fused) dots.emplace(l, r, memory.fused->hidden, y, x, o);
  run_steps([&] {
    choose_entries(moe_call, r, logits, o);
    if (dots && dots->can_run(l)) return dots->run(o);
    order_entries(moe_call, l, r, o);
    if (memory.fused) {
      multiply_gate_up(l, r, *memory.fused, x, o);
      multiply_down(l, r, *memory.fused, o);
      add_up(l, r, y, memory.fused->results, {}, o);
    } else {
      memory.steps->run(l, r, x, o);
      add_up(l, r, y, memory.steps->results, o.down_bias, o);
    }
  });
}

long_index_t moe_workspace_bytes(const tensor& x, const tensor& gate_up, const tensor& down, const moe_options& o) {
  if (has_no_tokens(x)) return 0;
  scratch_memory sizes;
  (void)moe_memory(sizes, moe_layer_of(moe_call, x, gate_up, down, o), o);
  return sizes.bytes;
}

}  // namespace tilewright::ops
