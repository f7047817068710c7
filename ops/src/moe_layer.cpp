// SPDX-License-Identifier: MIT
#include "moe_layer.hpp"

#include <string>
#include <string_view>

#include <tilewright/jit/routing.hpp>

#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

candidate describe_moe_order(const jit::order_by_expert_problem& p, const device_facts&) {
  return {.kernel = "order_by_expert", .reason = "by the number of experts", .source = jit::order_by_expert(p)};
}

/// The lengths of scales that weights of rows x k have: of their rows, or of groups.
bool has_scales(const tensor& scales, element type, long_index_t experts, long_index_t rows, long_index_t groups) {
  const bool by_rows = groups == 0;
  return scales.data && scales.type == type && scales.rank == (by_rows ? 2 : 3) && scales.lengths[0] == experts &&
         scales.lengths[1] == rows && (by_rows || scales.lengths[2] == groups);
}

/// Weights of i8, or of fp8 with scales of i8: a format of narrow_gemm, by its scales and zero points.
jit::narrow_format narrow_format_of(const char* call, const char* name, const matrix_view& codes, const tensor& scales,
                                    bool has_zeros, index_t k) {
  if (scales.type == element::fp8) return jit::narrow_format_of("nvfp4");
  if (scales.type == element::i8) return jit::narrow_format_of(codes.type == element::fp8 ? "mxfp8" : "mxfp4");
  const long_index_t groups = scales.rank == 3 ? scales.lengths[2] : 0,
                     group = groups > 0 && k % groups == 0 ? k / groups : 0;
  if (scales.type != element::f16 && scales.type != element::bf16 && scales.type != element::f32)
    refuse(call, std::string(name) + "_scale has elements of " + ops::name_of(scales.type) +
                     "; of weights of i8 they are i8 (MXFP4), fp8 (NVFP4), or f16, bf16 or f32 (int4)");
  if (group != 32 && group != 64 && (group == 0 || group % 128 != 0))
    refuse(call, std::string(name) + "_scale is " + describe(scales) +
                     "; a scale is for 32, 64 or a multiple of 128 elements along the last dimension");
  return jit::narrow_format_of((has_zeros ? "int4_zero_" : "int4_") + std::to_string(group) + "_" +
                               ops::name_of(scales.type));
}

/// Zero points are those of int4, as its scales; a factor for each expert is that of NVFP4.
void require_zeros_and_factor(const char* call, const char* name, const expert_weights& w, long_index_t experts) {
  if (w.zeros.data) {
    bool is_like_scales = w.zeros.type == element::i8 && w.zeros.rank == w.scales.rank && w.narrow.has_zero_points;
    for (int i = 0; i < w.zeros.rank && is_like_scales; ++i)
      is_like_scales = w.zeros.lengths[i] == w.scales.lengths[i] && w.zeros.strides[i] == w.scales.strides[i];
    if (!is_like_scales)
      refuse(call, std::string(name) + "_zeros is " + describe(w.zeros) +
                       "; zero points are those of int4: i8, with the lengths and strides of the scales");
  }
  if (!w.factor.data) return;
  if (std::string_view(w.narrow.name) != "nvfp4") refuse(call, std::string(name) + "_factor is for NVFP4");
  require_vector(call, (std::string(name) + "_factor").c_str(), w.factor, element::f32, experts);
}

/// The scales of weights, (rows, k) of each expert, which say how they are stored.
void set_format(const char* call, const char* name, expert_weights& w, const tensor& scales, long_index_t experts) {
  const matrix_view& m = w.codes;
  w.scales = scales;
  const bool is_fp8 = m.type == element::fp8;
  if (is_fp8 && has_scales(scales, element::f32, experts, m.rows, 0)) {
    w.format = expert_format::fp8_rows;
  } else if (is_fp8 && has_scales(scales, element::f32, experts, ceil_div(m.rows, 128), ceil_div(w.k, 128))) {
    w.format = expert_format::fp8_blocks;
  } else {
    if (is_fp8 && scales.type != element::i8)
      refuse(call, std::string(name) + "_scale is " + describe(scales) +
                       "; with weights of fp8 it is (experts, rows) or (experts, rows / 128, columns / 128) of f32, or "
                       "(experts, rows, columns / 32) of i8");
    w.format = expert_format::narrow;
    w.narrow = narrow_format_of(call, name, m, scales, w.zeros.data != nullptr, w.k);
    if (!has_scales(scales, scales.type, experts, m.rows, ceil_div(w.k, w.narrow.group)))
      refuse(call, std::string(name) + "_scale is " + describe(scales) + ", but must be (" + std::to_string(experts) +
                       ", " + std::to_string(m.rows) + ", " + std::to_string(ceil_div(w.k, w.narrow.group)) + ")");
  }
  if (scales.strides[scales.rank - 1] != 1 && scales.lengths[scales.rank - 1] > 1)
    refuse(call, std::string(name) + "_scale must be contiguous along its last dimension");
  require_zeros_and_factor(call, name, w, experts);
}

void require_formats(const char* call, moe_layer& l, const moe_options& o) {
  const bool has_scale = o.gate_up_scale.data || o.down_scale.data || o.gate_up_zeros.data || o.down_zeros.data ||
                         o.gate_up_factor.data || o.down_factor.data;
  if (l.weights() == l.type) {
    if (has_scale) refuse(call, "gate_up_scale and down_scale are for weights of fp8 or i8");
    return;
  }
  if (l.type != element::bf16 || !l.down.codes.along_cols || !o.gate_up_scale.data || !o.down_scale.data)
    refuse(call,
           "weights of fp8 or i8 need an x of bf16, a down that is contiguous along its last dimension, and "
           "gate_up_scale and down_scale");
  l.gate_up.zeros = o.gate_up_zeros, l.gate_up.factor = o.gate_up_factor;
  l.down.zeros = o.down_zeros, l.down.factor = o.down_factor;
  set_format(call, "gate_up", l.gate_up, o.gate_up_scale, l.experts);
  set_format(call, "down", l.down, o.down_scale, l.experts);
  if (l.gate_up.format != l.down.format) refuse(call, "gate_up and down have scales of different kinds");
}

[[noreturn]] void refuse_choices(const char* call, const moe_layer& l, const moe_options& o) {
  refuse(call,
         "there are " + std::to_string(o.choices) + " choices and " + std::to_string(o.shared) + " shared experts of " +
             std::to_string(l.experts) + " experts; " +
             (o.shared < 0 || o.shared >= l.experts ? "shared must be 0 to " + std::to_string(l.experts - 1)
                                                    : "choices must be 1 to " + std::to_string(l.experts - o.shared) +
                                                          ", the experts that are not shared"));
}

}  // namespace

moe_layer moe_layer_of(const char* call, const tensor& x, const tensor& gate_up, const tensor& down,
                       const moe_options& o) {
  if (gate_up.rank != 3 || down.rank != 3)
    refuse(call, "gate_up and down have three dimensions: (experts, 2 n, d) and (experts, d, n)");
  moe_layer l{.x = as_rows(call, "x", x),
              .gate_up = {.codes = as_matrix(call, "gate_up", gate_up)},
              .down = {.codes = as_matrix(call, "down", down)},
              .type = x.type};
  if (l.type != element::f16 && l.type != element::bf16)
    refuse(call, std::string("x has elements of ") + name_of(l.type) + "; they are f16 or bf16");
  const matrix_view &first = l.gate_up.codes, &second = l.down.codes;
  const index_t in_byte = first.type == element::i8 ? 2 : 1;  // elements
  l.experts = index_t(gate_up.lengths[0]);
  l.d = l.x.cols, l.n = second.cols * in_byte;
  l.gate_up.k = l.d, l.down.k = l.n;
  const bool is_known = first.type == x.type || first.type == element::fp8 || first.type == element::i8;
  if (!is_known || second.type != first.type || down.lengths[0] != l.experts || first.cols != ceil_div(l.d, in_byte) ||
      second.rows != l.d || first.rows != 2 * long_index_t{l.n})
    refuse(call,
           "x is " + describe(x) + ", gate_up " + describe(gate_up) + " and down " + describe(down) +
               "; they must be (tokens, d), (experts, 2 n, d) and (experts, d, n) of one type, or weights of fp8, "
               "or of i8 with half as many columns");
  require_formats(call, l, o);
  if (!first.along_cols) refuse(call, "gate_up must be contiguous along its last dimension");
  if (o.choices < 1 || o.shared < 0 || o.shared >= l.experts) refuse_choices(call, l, o);
  if (o.capacity < 0) refuse(call, "capacity must not be negative; 0 is no limit");
  l.choices = o.choices + o.shared;
  const long_index_t entries = long_index_t{l.x.rows} * l.choices;
  if (entries >= 1 << 30) refuse(call, "tokens x choices is 2^30 or more; split the tokens");
  l.tokens = l.x.rows, l.entries = index_t(entries);
  return l;
}

void require_routing(const char* call, const moe_layer& l, const tensor& logits, const moe_options& o) {
  const long_index_t routed = l.experts - o.shared;
  if ((o.expert.data == nullptr) != (o.weight.data == nullptr))
    refuse(call, "expert and weight belong together: give both, or none");
  if (logits.data == nullptr && o.expert.data == nullptr)
    refuse(call, "logits is null: give the gate's output, or the options expert and weight");
  if (logits.data) {
    if (o.choices > routed) refuse_choices(call, l, o);
    if (o.first_expert != 0) refuse(call, "first_expert goes with given experts and weights; logits must be null");
    const rows_view given = as_rows(call, "logits", logits);
    if (given.rows != l.tokens || given.cols != routed)
      refuse(call, "logits is " + describe(logits) + ", but must be (" + std::to_string(l.tokens) + ", " +
                       std::to_string(routed) + ")");
  }
}

void require_bias(const char* call, const char* name, const tensor& t, const moe_layer& l, long_index_t cols) {
  if (!t.data) return;
  require_tensor(call, name, t, l.type, {l.experts, cols});
  if (t.strides[1] != 1) refuse(call, std::string(name) + " must be contiguous along its last dimension");
}

tensor scratch_memory::take(element type, std::initializer_list<long_index_t> lengths) {
  tensor t = packed(nullptr, type, lengths);
  t.data = base ? base + bytes : nullptr;
  long_index_t size = bytes_of(type);
  for (const long_index_t length : lengths) size *= length;
  bytes = (bytes + size + 255) / 256 * 256;
  return t;
}

moe_routing take_routing(const char* call, scratch_memory& memory, const moe_layer& l, const moe_options& o) {
  const auto entries = [&](const tensor& given, element type) {
    if (!given.data) return memory.take(type, {l.tokens, l.choices});
    require_tensor(call, type == element::i32 ? "expert" : "weight", given, type, {l.tokens, l.choices});
    if (given.strides[1] != 1 || given.strides[0] != l.choices) refuse(call, "expert and weight must be packed");
    return given;
  };
  moe_routing r;
  r.expert = entries(o.expert, element::i32);
  r.weight = entries(o.weight, element::f32);
  r.ends = memory.take(element::i32, {l.experts});
  r.source = memory.take(element::i32, {l.entries});
  r.position = memory.take(element::i32, {l.tokens, l.choices});
  r.counts = memory.take(element::i8, {jit::workspace_bytes({.args = {.entries = l.entries, .experts = l.experts}})});
  return r;
}

void choose_entries(const char* call, const moe_routing& r, const tensor& logits, const moe_options& o) {
  if (!logits.data) return;
  choose_for(call, r.expert, r.weight, logits,
             {.is_normalised = o.is_normalised,
              .stream = o.stream,
              .score = o.score,
              .score_bias = o.score_bias,
              .groups = o.groups,
              .kept_groups = o.kept_groups,
              .scale = o.scale,
              .shared = o.shared});
}

void order_entries(const char* call, const moe_layer& l, const moe_routing& r, const moe_options& o) {
  jit::order_by_expert_problem p;
  const auto list = [](const tensor& t) { return static_cast<index_t*>(t.data); };
  p.args = {list(r.expert), list(r.ends), list(r.source), list(r.position), list(r.counts), l.entries, l.experts};
  p.args.first_expert = o.first_expert, p.args.capacity = o.capacity;
  run_single<describe_moe_order>(call, key_of_all(call, 1, l.entries, l.experts, o.capacity > 0), p, o.stream);
}

const void* from_expert_0(const tensor& t, const moe_options& o) {
  if (!t.data) return nullptr;
  return static_cast<const char*>(t.data) - o.first_expert * t.strides[0] * bytes_of(t.type);
}

clamped_swiglu_function swiglu_of(const moe_options& o) {
  return {o.swiglu_alpha, o.swiglu_limit == 0 ? __builtin_inff() : o.swiglu_limit, o.swiglu_shift};
}

}  // namespace tilewright::ops
