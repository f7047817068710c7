// SPDX-License-Identifier: MIT
// The lists "gemm" and "grouped_gemm".
#include <tilewright/jit/given_later.hpp>
#include <tilewright/jit/grouped.hpp>

#include "lists.hpp"

namespace pack {
namespace {

using tilewright::group_kind;
using tilewright::index_t;
using tilewright::long_index_t;

/// What both kinds of products have. Problem: gemm_problem or grouped_problem.
template <class Problem>
Problem read_operands(reader& r) {
  Problem p;
  p.type = r.element("type", "f16");
  p.result = r.element("result", r.get<std::string>("type", "f16"));
  p.a_along_k = r.choose("a", {"k", "m"}, "k") == 0;
  p.b_along_k = r.choose("b", {"k", "n"}, "k") == 0;
  auto& g = p.args;
  g.m = r.require<index_t>("m");
  g.n = r.require<index_t>("n");
  g.k = r.require<index_t>("k");
  g.lda = r.get("lda", p.a_along_k ? g.k : g.m);
  g.ldb = r.get("ldb", p.b_along_k ? g.k : g.n);
  g.ldc = r.get("ldc", g.n);
  if (r.get("epilogue", false)) g.bias = jit::given_later(3);
  return p;
}

/// Operands of fp8 with scales for blocks of 128 along k, without gaps.
jit::kernel_request read_block_scaled(reader& r) {
  jit::block_scaled_problem p;
  p.result = r.element("result", "bf16");
  tilewright::block_scaled_args& g = p.args;
  g.m = r.require<index_t>("m");
  g.n = r.require<index_t>("n");
  g.k = g.lda = g.ldb = r.require<index_t>("k");
  g.ldc = g.n;
  g.groups = r.require<index_t>("groups");
  g.batch_stride_b = long_index_t(g.k) * g.n;
  g.k_stride_a_scales = 1;
  g.row_stride_a_scales = g.ld_b_scales = (g.k + 127) / 128;
  g.batch_stride_b_scales = long_index_t(g.ld_b_scales) * ((g.n + 127) / 128);
  if (r.get("epilogue", false)) g.bias = jit::given_later(3);
  g.ends = static_cast<const index_t*>(jit::given_later(4));
  return jit::block_scaled_gemm(p);
}

jit::kernel_request read_grouped(reader& r) {
  auto p = read_operands<jit::grouped_problem>(r);
  const bool by_rows = r.choose("divides", {"rows", "k"}, "rows") == 0;
  p.groups = by_rows ? group_kind::rows : group_kind::k;
  tilewright::grouped_args& g = p.args;
  g.groups = r.require<index_t>("groups");
  g.batch_stride_b = r.get("batch_stride_b", by_rows ? long_index_t(g.ldb) * (p.b_along_k ? g.n : g.k) : 0);
  g.batch_stride_c = r.get("batch_stride_c", by_rows ? 0 : long_index_t(g.ldc) * g.m);
  g.ends = static_cast<const index_t*>(jit::given_later(4));
  return jit::grouped_gemm(p);
}

}  // namespace

jit::gemm_problem read_product(reader& r) {
  auto p = read_operands<jit::gemm_problem>(r);
  p.policy = r.get<std::string>("policy", "");
  tilewright::gemm_args& g = p.args;
  g.batch = r.get<index_t>("batch", 1);
  const bool is_batch = g.batch > 1;
  g.batch_stride_a = r.get("batch_stride_a", is_batch ? long_index_t(g.lda) * (p.a_along_k ? g.m : g.k) : 0);
  g.batch_stride_b = r.get("batch_stride_b", is_batch ? long_index_t(g.ldb) * (p.b_along_k ? g.n : g.k) : 0);
  g.batch_stride_c = r.get("batch_stride_c", is_batch ? long_index_t(g.ldc) * g.m : 0);
  g.split_k = r.get<index_t>("split_k", 1);
  g.beta = r.get("adds", false) ? 1.0f : 0.0f;
  return p;
}

jit::kernel_request product_request(const jit::gemm_problem& p) {
  tilewright::gemm_args launched = p.args;
  launched.a = jit::given_later(0);
  launched.b = jit::given_later(1);
  launched.c = jit::given_later(2);
  launched.workspace = jit::given_later(4);
  return checked(jit::gemm(p), launched);
}

std::span<const operation_list> grouped_lists() {
  static constexpr operation_list lists[] = {{"grouped_gemm", read_grouped}, {"block_scaled_gemm", read_block_scaled}};
  return lists;
}

}  // namespace pack
