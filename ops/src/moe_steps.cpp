// SPDX-License-Identifier: MIT
// Expert layers whose GEMMs neither gather rows nor apply SwiGLU: fp8 with block scales, narrow formats.
#include <tilewright/jit/grouped.hpp>
#include <tilewright/jit/routing.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/ops/map.hpp>
#include <tilewright/ops/quantise.hpp>
#include <tilewright/ops/routing.hpp>

#include "moe_layer.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

candidate describe_blocks(const jit::block_scaled_problem& p, const device_facts& on) {
  candidate c = kernel_for("block_scaled_gemm", element::fp8, jit::block_scaled_gemm(p));
  c.workspace_bytes = on.target == "sm_90a" ? hopper_gemm_workspace::bytes : 0;
  c.counts_in_workspace = true;
  return c;
}
candidate describe_narrow(const jit::narrow_gemm_problem& p, const device_facts& on) {
  jit::kernel_request source = jit::narrow_gemm(p);
  return {.kernel = source(on.target).name, .reason = "the only one for these types", .source = source};
}
candidate describe_activation(const jit::expert_activation_problem& p, const device_facts&) {
  return kernel_for(p.is_gradient ? "expert_activation_gradient" : "expert_activation", p.type,
                    jit::expert_activation(p));
}

/// The lengths of a grouped GEMM.
void set_operands(grouped_args& g, const moe_layer& l, const expert_weights& w, const moe_routing& r, const tensor& c,
                  const tensor& a) {
  g.a = a.data, g.b = w.codes.data, g.c = c.data;
  g.m = l.entries, g.n = w.codes.rows, g.k = w.k;
  g.lda = index_t(a.strides[0]), g.ldb = w.codes.ld, g.ldc = index_t(c.strides[0]);
  g.batch_stride_b = w.codes.batch_stride;
  g.groups = l.experts, g.ends = r.ends_data();
}

void multiply_blocks(const char* call, const moe_layer& l, const expert_weights& w, const moe_routing& r,
                     const tensor& c, const tensor& a, const tensor& a_scales, void* stream) {
  jit::block_scaled_problem p{.result = c.type};
  block_scaled_args& g = p.args;
  set_operands(g, l, w, r, c, a);
  g.a_scales = static_cast<const float*>(a_scales.data), g.b_scales = static_cast<const float*>(w.scales.data);
  g.row_stride_a_scales = index_t(a_scales.strides[0]), g.k_stride_a_scales = index_t(a_scales.strides[1]);
  g.ld_b_scales = index_t(w.scales.strides[1]), g.batch_stride_b_scales = w.scales.strides[0];
  run_single<describe_blocks>(
      call,
      key_of_all(call, 3, p.result, g.a, g.b, static_cast<const void*>(g.c), g.m, g.n, g.k, g.lda, g.ldb, g.ldc,
                 g.batch_stride_b, g.groups, static_cast<const void*>(g.a_scales), g.row_stride_a_scales,
                 g.k_stride_a_scales, g.ld_b_scales, g.batch_stride_b_scales),
      p, stream, {.workspace = &g.workspace});
}

void multiply_narrow(const char* call, const moe_layer& l, const expert_weights& w, const moe_routing& r,
                     const tensor& c, const tensor& a, void* stream) {
  const index_t in_byte = 8 / w.narrow.bits;
  jit::narrow_gemm_problem p{.type = l.type, .result = c.type, .format = w.narrow};
  narrow_args& g = p.args;
  set_operands(g, l, w, r, c, a);
  g.ldb *= in_byte, g.batch_stride_b *= in_byte;
  g.b_scales = w.scales.data, g.b_zeros = w.zeros.data;
  g.ld_b_scales = index_t(w.scales.strides[1]), g.batch_stride_b_scales = w.scales.strides[0];
  run_single<describe_narrow>(
      call,
      key_of_all(call, 4, p.type, p.result, std::string_view(w.narrow.type), g.m, g.n, g.k, g.lda, g.ldb, g.ldc,
                 g.batch_stride_b, g.groups, g.ld_b_scales, g.batch_stride_b_scales),
      p, stream);
}

/// (rows, n, 2) of (rows, 2 n).
tensor pairs_of(const tensor& t) {
  const long_index_t n = t.lengths[1] / 2, stride = t.strides[0];
  return strided(t.data, t.type, {t.lengths[0], n, 2}, {stride, 2, 1});
}
tensor halves_of(const tensor& t) {
  const long_index_t n = t.lengths[1] / 2, stride = t.strides[0];
  return strided(t.data, t.type, {t.lengths[0], n, 2}, {stride, 1, n});
}

}  // namespace

void separate_halves(const tensor& to, const tensor& from, void* stream) {
  permute(halves_of(to), pairs_of(from), {.stream = stream});
}
void alternate_halves(const tensor& to, const tensor& from, void* stream) {
  permute(pairs_of(to), halves_of(from), {.stream = stream});
}

void multiply_by_expert(const char* call, const moe_layer& l, const expert_weights& w, const moe_routing& r,
                        const tensor& c, const tensor& a, const tensor& a_scales, void* stream) {
  if (w.format == expert_format::fp8_blocks)
    multiply_blocks(call, l, w, r, c, a, a_scales, stream);
  else
    multiply_narrow(call, l, w, r, c, a, stream);
}

void activate_rows(const char* call, const moe_layer& l, const moe_routing& r, const activation_tensors& t,
                   const moe_options& o) {
  jit::expert_activation_problem p{.type = l.type, .is_gradient = t.dx.data != nullptr};
  auto& a = p.args;
  a.x = t.x.data, a.y = t.y.data, a.position = static_cast<const index_t*>(r.position.data);
  a.entries = l.entries, a.cols = l.n, a.x_stride = t.x.strides[0], a.y_stride = t.y.strides[0];
  a.function = swiglu_of(o);
  if (t.bias.data) {
    a.bias = from_expert_0(t.bias, o), a.expert = static_cast<const index_t*>(r.expert.data);
    a.bias_stride = t.bias.strides[0];
  }
  if (l.gate_up.factor.data)
    a.factor = static_cast<const float*>(from_expert_0(l.gate_up.factor, o)),
    a.expert = static_cast<const index_t*>(r.expert.data);
  if (p.is_gradient) {
    a.dy = t.dy.data, a.dx = t.dx.data, a.dy_stride = t.dy.strides[0], a.dx_stride = t.dx.strides[0];
    a.weight = static_cast<const float*>(r.weight.data), a.dweight = static_cast<float*>(t.dweight.data);
    if (t.dresult.data) {
      a.result_bias = from_expert_0(o.down_bias, o), a.result_bias_stride = o.down_bias.strides[0];
      a.dresult = t.dresult.data, a.dresult_stride = t.dresult.strides[0], a.result_cols = l.d;
      a.expert = static_cast<const index_t*>(r.expert.data);
    }
  }
  run_single<describe_activation>(
      call,
      key_of_all(call, 5, p.type, p.is_gradient, a.x, static_cast<const void*>(a.y), a.bias, a.dy,
                 static_cast<const void*>(a.dx), a.result_bias, a.result_bias_stride, a.result_cols, a.entries, a.cols,
                 a.x_stride, a.y_stride, a.bias_stride, a.dy_stride, a.dx_stride),
      p, o.stream);
}

moe_steps::moe_steps(scratch_memory& memory, const moe_layer& l, const moe_options& o) {
  const bool has_codes = l.gate_up.format == expert_format::fp8_blocks;
  const auto codes = [&](tensor& elements, tensor& scales, index_t cols) {
    if (!has_codes) return;
    elements = memory.take(element::fp8, {l.entries, cols});
    scales = memory.take(element::f32, {l.entries, ceil_div(cols, 128)});
  };
  rows = memory.take(l.type, {l.entries, l.d});
  codes(row_codes, row_scales, l.d);
  products = memory.take(l.type, {l.entries, 2ll * l.n});
  halves = o.is_interleaved ? memory.take(l.type, {l.entries, 2ll * l.n}) : products;
  if (o.is_interleaved && o.gate_up_bias.data) bias = memory.take(l.type, {l.experts, 2ll * l.n});
  hidden = memory.take(l.type, {l.entries, l.n});
  codes(hidden_codes, hidden_scales, l.n);
  results = memory.take(l.type, {l.entries, l.d});
}

void moe_steps::run(const moe_layer& l, const moe_routing& r, const tensor& x, const moe_options& o) const {
  constexpr const char* call = "moe";
  const auto multiply = [&](const expert_weights& w, const tensor& c, const tensor& a, const tensor& codes,
                            const tensor& scales) {
    if (codes.data) quantise(codes, scales, a, {.stream = o.stream});
    multiply_by_expert(call, l, w, r, c, codes.data ? codes : a, scales, o.stream);
  };
  rows_to_experts(rows, x, r.position, {.stream = o.stream});
  multiply(l.gate_up, products, rows, row_codes, row_scales);
  if (o.is_interleaved) separate_halves(halves, products, o.stream);
  if (bias.data) separate_halves(bias, o.gate_up_bias, o.stream);
  activate_rows(call, l, r, {.y = hidden, .x = halves, .bias = bias.data ? bias : o.gate_up_bias}, o);
  multiply(l.down, results, hidden, hidden_codes, hidden_scales);
}

}  // namespace tilewright::ops
