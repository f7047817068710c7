// SPDX-License-Identifier: MIT
// libtilewright_grouped_exact: grouped and block-scaled GEMM with exact tiles, compiled at run time, for grouped.py.
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/grouped.hpp>

#include <map>
#include <string>

#include "grouped_problem.hpp"

namespace {

namespace jit = tilewright::jit;

/// Kernels that were loaded, by name and problem; the same compiler for all.
struct loaded_kernels {
  jit::compiler compiler;
  std::map<std::string, jit::kernel> kernels;
};

void set(tilewright::grouped_args& g, const grouped_problem& p) {
  g.a = p.a, g.b = p.b, g.c = p.c;
  g.m = p.m, g.n = p.n, g.k = p.k;
  g.lda = p.lda, g.ldb = p.ldb, g.ldc = p.ldc;
  g.alpha = p.alpha, g.beta = p.beta;
  g.workspace = p.workspace;
  g.groups = p.groups;
  g.ends = p.ends, g.counts = p.counts;
  g.slot_rows = p.slot_rows;
  g.batch_stride_b = p.stride;
}

/// Args are those of the problem, which `request` makes of them.
template <class Problem, class Request>
void start(const std::string& key, Problem problem, Request request, void* stream) {
  static loaded_kernels all;
  auto found = all.kernels.find(key);
  if (found == all.kernels.end()) found = all.kernels.emplace(key, all.compiler.load(request(problem))).first;
  found->second(problem.args, stream);
}

}  // namespace

int tilewright_grouped_problem_bytes() { return sizeof(grouped_problem); }

const char* tilewright_grouped(const char* name, const grouped_problem* p, void* stream) {
  static thread_local std::string message;
  const std::string wanted = name;
  std::string key = wanted;
  for (const int length : {p->groups, p->slot_rows, p->m, p->n, p->k}) key += " " + std::to_string(length);
  try {
    if (wanted == "bf16 exact" || wanted == "f16 exact") {
      jit::grouped_problem j;
      j.type = j.result = wanted == "f16 exact" ? jit::element::f16 : jit::element::bf16;
      set(j.args, *p);
      start(key, j, jit::grouped_gemm, stream);
      return nullptr;
    }
    if (wanted != "scaled exact" && wanted != "dense scaled exact") return "there is no kernel of this name";
    jit::block_scaled_problem j;
    j.result = jit::element::bf16;
    set(j.args, *p);
    if (wanted == "dense scaled exact") j.args.groups = 0, j.args.batch_stride_b = 0, j.args.ends = nullptr;
    j.args.a_scales = p->a_scales, j.args.b_scales = p->b_scales;
    j.args.row_stride_a_scales = p->row_stride_a_scales, j.args.k_stride_a_scales = p->k_stride_a_scales;
    j.args.ld_b_scales = p->ld_b_scales, j.args.batch_stride_b_scales = p->stride_b_scales;
    start(key, j, jit::block_scaled_gemm, stream);
    return nullptr;
  } catch (const jit::error& error) {
    message = error.what();
    return message.c_str();
  }
}
