// SPDX-License-Identifier: MIT
// Prints the table of docs/support.md: which kernels jit makes for an operation, types and orders, on each target. Each
// cell asks the library, which makes the kernel's text or refuses.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/error.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/jit/given_later.hpp>
#include <tilewright/jit/grouped.hpp>
#include <tilewright/jit/narrow_gemm.hpp>
#include <tilewright/jit/routing.hpp>
#include <tilewright/jit/rows.hpp>
#include <tilewright/jit/tensor.hpp>
#include <tilewright/kernels/tensor/strided_tensor.hpp>

namespace {

namespace tw = tilewright;
namespace jit = tilewright::jit;
using enum jit::element;

struct target {
  const char *name, *grade;  // what has been done with kernels for it
};
std::vector<target> all_targets() {
  std::vector<target> all;
  for (const tw::arch::target* t : tw::arch::amd_targets::values) all.push_back({t->name, "emulated"});
  all.insert(all.end(), {{"sm_80", "compiled"}, {"sm_90a", "run"}});
  return all;
}
const std::vector<target> targets = all_targets();

const char* name_of(jit::element type) {
  constexpr const char* names[] = {"f16", "bf16", "f32", "fp8", "bf8", "i8", "i32"};
  return names[int(type)];
}

/// "run", "emulated" or "compiled" where the library makes a kernel, "no" where it refuses.
const char* grade_on(const target& on, const std::function<jit::kernel_request()>& request) {
  try {
    return request()(on.name).kernel.empty() ? "no" : on.grade;
  } catch (const jit::error& why) {
    if (std::getenv("TILEWRIGHT_WHY")) std::fprintf(stderr, "%s: %s\n", on.name, why.what());
    return "no";
  }
}

struct row {
  std::string operation, types, orders, cells;
};
std::vector<row> rows;

std::string cells_of(const std::function<jit::kernel_request()>& request) {
  std::string cells;
  for (const target& t : targets) cells += std::string(" ") + grade_on(t, request) + " |";
  return cells;
}

/// Lines of an operation with the same kernels become one.
void add_row(const std::string& operation, const std::string& types, const std::string& orders,
             const std::string& cells) {
  for (row& r : rows)
    if (r.operation == operation && r.types == types && r.cells == cells) {
      r.orders += "; " + orders;
      return;
    }
  rows.push_back({operation, types, orders, cells});
}
void print_row(const std::string& operation, const std::string& types, const std::string& orders,
               const std::function<jit::kernel_request()>& request) {
  add_row(operation, types, orders, cells_of(request));
}

void print_rows() {
  std::vector<row> merged;  // types with the same kernels and orders
  for (const row& r : rows) {
    row* same = nullptr;
    for (row& m : merged)
      if (m.operation == r.operation && m.orders == r.orders && m.cells == r.cells) same = &m;
    if (same)
      same->types += "; " + r.types;
    else
      merged.push_back(r);
  }
  for (const row& r : merged)
    if (r.cells.find("ed") != std::string::npos || r.cells.find("run") != std::string::npos)
      std::printf("| %s | %s | %s |%s\n", r.operation.c_str(), r.types.c_str(), r.orders.c_str(), r.cells.c_str());
}

std::string order_of(bool along_k, const char* k_major, const char* other) { return along_k ? k_major : other; }
std::string orders_of(bool a_along_k, bool b_along_k) {
  return order_of(a_along_k, "r", "c") + order_of(b_along_k, "c", "r");
}

template <class Problem>
void print_orders(const char* operation, const std::string& types, Problem problem,
                  jit::kernel_request (*request)(const Problem&)) {
  for (const auto& [a, b] : {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
    problem.a_along_k = a;
    problem.b_along_k = b;
    problem.args.lda = a ? problem.args.k : problem.args.m;
    problem.args.ldb = b ? problem.args.k : problem.args.n;
    add_row(operation, types, orders_of(a, b), cells_of([&] { return request(problem); }));
  }
}

std::string types_of(jit::element type, jit::element result) {
  return type == result ? name_of(type) : std::string(name_of(type)) + " to " + name_of(result);
}

void print_gemms() {
  for (const auto& [type, result] : {std::pair{f16, f16},
                                     {f16, f32},
                                     {bf16, bf16},
                                     {bf16, f32},
                                     {f32, f32},
                                     {fp8, f16},
                                     {fp8, bf16},
                                     {fp8, f32},
                                     {bf8, f32},
                                     {i8, i32}}) {
    jit::gemm_problem p{.type = type, .result = result};
    p.args.m = p.args.n = p.args.k = p.args.ldc = 256;
    print_orders<jit::gemm_problem>("gemm", types_of(type, result), p, &jit::gemm);
  }
  for (const jit::element type : {f16, bf16}) {
    jit::gemm_problem p{.type = type, .result = type, .has_gate = true};
    p.args.m = p.args.n = p.args.k = p.args.ldc = 256;
    p.args.product_stride_b = 256 * 256;
    print_orders<jit::gemm_problem>("gemm with gate (SwiGLU)", name_of(type), p, &jit::gemm);
  }
  for (const auto groups : {tw::group_kind::rows, tw::group_kind::k})
    for (const auto& [type, result] : {std::pair{f16, f16}, {bf16, bf16}, {fp8, bf16}}) {
      jit::grouped_problem p{.type = type, .result = result, .groups = groups};
      p.args.m = p.args.n = p.args.k = p.args.ldc = 256;
      p.args.groups = 4;
      p.args.ends = static_cast<const tw::index_t*>(jit::given_later());
      p.args.batch_stride_b = p.args.batch_stride_c = 256 * 256;
      print_orders<jit::grouped_problem>(
          groups == tw::group_kind::rows ? "grouped_gemm, groups of rows" : "grouped_gemm, groups of k",
          types_of(type, result), p, &jit::grouped_gemm);
    }
  for (const jit::element type : {f16, bf16})
    for (const char* const format : {"int4_128_f16", "int4_zero_32_bf16", "mxfp4", "nvfp4", "mxfp8", "int8", "e4m3"}) {
      jit::narrow_gemm_problem p{.type = type, .result = type, .format = jit::narrow_format_of(format)};
      p.args.m = p.args.n = p.args.k = p.args.lda = p.args.ldb = p.args.ldc = 256;
      print_row("narrow_gemm", name_of(type), format, [&] { return jit::narrow_gemm(p); });
    }
}

template <class Args>
void fill_attention(Args& args, int dim, int value_dim) {
  args.heads = args.kv_heads = 4;
  args.queries = args.keys = 256;
  args.q_strides = args.k_strides = {256 * 4 * long(dim), dim, 4 * dim};
  args.v_strides = args.o_strides = {256 * 4 * long(value_dim), value_dim, 4 * value_dim};
}

void print_attention() {
  constexpr std::array<int, 4> dims{32, 64, 128, 256};
  for (const jit::element type : {f16, bf16}) {
    for (const int dim : dims) {
      const std::string d = "d = " + std::to_string(dim);
      jit::attention_problem p{.type = type, .head_dim = dim, .value_dim = dim};
      fill_attention(p.args, dim, dim);
      print_row("attention", name_of(type), d, [&] { return jit::attention(p); });
    }
  }
  for (const jit::element type : {f16, bf16}) {
    for (const int dim : dims) {
      const std::string d = "d = " + std::to_string(dim);
      jit::attention_backward_problem p{.type = type, .head_dim = dim, .value_dim = dim};
      fill_attention(p.args, dim, dim);
      p.args.lse = static_cast<float*>(jit::given_later(1));
      p.args.lse_strides = {256 * 4, 256, 1};
      p.args.d_o_strides = p.args.o_strides;
      p.args.d_q_strides = p.args.d_k_strides = p.args.q_strides;
      p.args.d_v_strides = p.args.v_strides;
      print_row("attention_backward", name_of(type), d, [&] { return jit::attention_backward(p); });
      jit::attention_decode_problem q{.type = type, .head_dim = dim, .value_dim = dim};
      fill_attention(q.args, dim, dim);
      print_row("attention_decode", name_of(type), d, [&] { return jit::attention_decode(q); });
    }
  }
}

template <class Problem>
void fill_rows(Problem& p) {
  p.args.rows = 64;
  p.args.cols = 1024;
  p.args.x_stride = 1024;
}

void print_rows_of(jit::element type) {
  const std::string t = name_of(type);
  jit::softmax_problem softmax{.type = type};
  fill_rows(softmax);
  softmax.args.y_stride = 1024;
  print_row("softmax", t, "", [&] { return jit::softmax(softmax); });
  for (const auto kind : {tw::norm_kind::rms_norm, tw::norm_kind::layer_norm}) {
    const std::string name = kind == tw::norm_kind::rms_norm ? "rms_norm" : "layer_norm";
    jit::norm_problem norm{.type = type, .result = type, .kind = kind};
    fill_rows(norm);
    norm.args.y_stride = 1024;
    print_row(name, t, "", [&] { return jit::row_norm(norm); });
    norm.result = fp8;
    norm.scales = tw::scale_kind::per_row;
    print_row(name, t + " to fp8 with scales", "", [&] { return jit::row_norm(norm); });
  }
  jit::rotary_problem rotary{.type = type};
  rotary.args.tokens = rotary.args.heads = rotary.args.max_position = 16;
  rotary.args.pairs = 64;
  rotary.args.x_token_stride = rotary.args.y_token_stride = 16 * 128;
  rotary.args.x_head_stride = rotary.args.y_head_stride = 128;
  print_row("rotary", t, "", [&] { return jit::rotary(rotary); });
  jit::cross_entropy_problem loss{.type = type};
  fill_rows(loss);
  print_row("cross_entropy", t, "", [&] { return jit::cross_entropy(loss); });
  for (const jit::element result : {fp8, bf8, i8}) {
    jit::quantise_problem quantise{.type = type, .result = result};
    fill_rows(quantise);
    quantise.args.y_stride = 1024;
    print_row("quantise", types_of(type, result), "", [&] { return jit::quantise_rows(quantise); });
  }
  jit::choose_experts_problem choose{.type = type};
  choose.args.tokens = choose.args.x_stride = 64;
  choose.args.experts = 64;
  choose.args.choices = 6;
  print_row("choose_experts", t, "", [&] { return jit::choose_experts(choose); });
}

}  // namespace

int main() {
  std::string head = "| operation | types | orders, head dimensions |", line = "|---|---|---|";
  for (const target& t : targets) {
    head += std::string(" ") + t.name + " |";
    line += "---|";
  }
  std::printf("%s\n%s\n", head.c_str(), line.c_str());
  print_gemms();
  print_attention();
  for (const jit::element type : {f16, bf16, f32}) print_rows_of(type);
  print_rows();
}
