// SPDX-License-Identifier: MIT
#include <tilewright/ops/gemm.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/check_gemm.hpp>

#include "call.hpp"
#include "gemm_candidates.hpp"
#include "gemm_types.hpp"
#include "matrix_view.hpp"

namespace tilewright::ops {
namespace {

constexpr const char* op = "gemm";

/// The operands in the order in which kernels take them: C row-major.
struct gemm_operands {
  matrix_view c, a, b;
  tensor row_scale, column_scale;
  bool is_transposed = false;
};

gemm_operands operands_of(const tensor& c, const tensor& a, const tensor& b, const gemm_options& o) {
  gemm_operands x{as_matrix(op, "C", c), as_matrix(op, "A", a), as_matrix(op, "B", b, false), o.row_scale,
                  o.column_scale};
  const auto shape = [](const matrix_view& m) { return std::to_string(m.rows) + " x " + std::to_string(m.cols); };
  if (x.a.cols != x.b.rows)
    refuse(op, "A is " + shape(x.a) + " and B " + shape(x.b) + "; A must have as many columns as B has rows");
  if (x.c.rows != x.a.rows || x.c.cols != x.b.cols)
    refuse(op, "C is " + shape(x.c) + ", but A B is " + std::to_string(x.a.rows) + " x " + std::to_string(x.b.cols));
  for (const auto& [name, m] : {std::pair{"A", &x.a}, std::pair{"B", &x.b}})
    if (m->batch != 1 && m->batch != x.c.batch)
      refuse(op, std::string(name) + " is a batch of " + std::to_string(m->batch) + " matrices and C one of " +
                     std::to_string(x.c.batch) + "; they must be equal, or 1");
  if (x.c.batch > 1 && x.c.batch_stride == 0) refuse(op, "the matrices of C's batch are the same memory");
  if (x.c.along_cols) return x;
  // C^T = B^T A^T.
  const matrix_view left = x.a;
  x.a = x.b.transposed();
  x.b = left.transposed();
  x.c = x.c.transposed();
  std::swap(x.row_scale, x.column_scale);
  x.is_transposed = true;
  return x;
}

void require_options(const gemm_operands& x, const gemm_options& o) {
  const bool has_functions = o.scale.data || o.row_scale.data || o.column_scale.data || o.bias.data ||
                             o.residual.data || o.activate != activation::none;
  if (x.a.type == element::i8 && (has_functions || o.gate.data))
    refuse(op, "a GEMM of i8 takes alpha and beta only; write i32 and scale that");
  if (o.activate < activation::none || o.activate > activation::silu)
    refuse(op, "activate is " + std::to_string(int(o.activate)) + ", which is no tw::activation");
  if (o.scale.data) {
    require_tensor(op, "scale", o.scale);
    long_index_t count = 1;
    for (int i = 0; i < o.scale.rank; ++i) count *= o.scale.lengths[i];
    if (o.scale.type != element::f32 || count != 1)
      refuse(op, "scale is " + describe(o.scale) + ", but must be one f32");
  }
  if (x.row_scale.data)
    require_vector(op, x.is_transposed ? "column_scale" : "row_scale", x.row_scale, element::f32, x.c.rows);
  if (x.column_scale.data)
    require_vector(op, x.is_transposed ? "row_scale" : "column_scale", x.column_scale, element::f32, x.c.cols);
  if (o.bias.data && x.is_transposed)
    refuse(op, "a bias needs a C that is contiguous along its columns; write a row-major C, or add the bias later");
  if (o.bias.data) require_vector(op, "bias", o.bias, x.c.type, x.c.cols);
  if (o.workspace_bytes < 0 || (o.workspace == nullptr) != (o.workspace_bytes == 0))
    refuse(op, "workspace and workspace_bytes belong together: give both, or none");
  if (reinterpret_cast<std::uintptr_t>(o.workspace) % 16 != 0) refuse(op, "the workspace is not aligned to 16 bytes");
}

void set_residual(gemm_args& g, const gemm_operands& x, const tensor& residual) {
  matrix_view r = as_matrix(op, "residual", residual, !x.is_transposed);
  if (x.is_transposed) r = r.transposed();
  if (r.type != x.c.type || r.rows != x.c.rows || r.cols != x.c.cols || (r.batch != 1 && r.batch != x.c.batch))
    refuse(op, "residual is " + describe(residual) + ", but must have C's lengths and type");
  if (!r.along_cols) refuse(op, "residual and C must be contiguous along the same dimension");
  g.residual = r.data;
  g.ld_residual = r.ld;
  g.batch_stride_residual = r.batch_stride;
}

/// B becomes both factors, the gate first.
void set_gate(gemm_args& g, const gemm_operands& x, const tensor& gate, const gemm_options& o) {
  if (o.alpha != 1 || o.beta != 0 || o.scale.data || o.row_scale.data || o.column_scale.data || o.bias.data ||
      o.residual.data || o.activate != activation::none)
    refuse(op, "a gate goes with no other option: silu(A gate) (A B) is all that this kernel computes");
  if (x.is_transposed) refuse(op, "a gate needs a C that is contiguous along its columns");
  const matrix_view m = as_matrix(op, "gate", gate, x.b.along_cols);
  if (m.type != x.b.type || m.rows != x.b.rows || m.cols != x.b.cols || m.batch != x.b.batch || m.ld != x.b.ld ||
      m.along_cols != x.b.along_cols || m.batch_stride != x.b.batch_stride)
    refuse(op, "gate is " + describe(gate) + ", but must have B's lengths, type and strides");
  const long_index_t bytes = static_cast<const char*>(x.b.data) - static_cast<const char*>(m.data);
  if (bytes <= 0 || bytes > 0x7fffffff)
    refuse(op, "gate must lie before B, within 2 GiB: keep both in one tensor, the gate first");
  g.b = m.data;
  g.product_stride_b = bytes / bytes_of(m.type);
}

/// Refuses a C in memory that the product reads, but for a residual that is C itself.
void require_separate(const jit::gemm_problem& p) {
  const gemm_args& g = p.args;
  const checked_gemm checked{
      1, 1, 1, p.a_along_k, p.b_along_k, bytes_of(p.type), bytes_of(p.result), 1, p.has_gate ? 2 : 1};
  if (tilewright::detail::check_result_memory(g, checked))
    refuse(op, "C shares memory with A or B; give it memory of its own");
  const long_index_t bytes = bytes_of(p.result);
  const tilewright::detail::memory_lines c{g.c, g.n * bytes, g.m, g.ldc * bytes, g.batch, g.batch_stride_c * bytes},
      residual{g.residual, g.n * bytes, g.m, g.ld_residual * bytes, g.batch, g.batch_stride_residual * bytes};
  const bool is_c = g.residual == g.c && g.ld_residual == g.ldc && g.batch_stride_residual == g.batch_stride_c;
  if (g.residual && !is_c && tilewright::detail::overlap(c, residual))
    refuse(op, "residual shares memory with C, but is not C itself; give it memory of its own");
  if (tilewright::detail::results_overlap(g, g.batch)) refuse(op, "matrices of C's batch overlap; check its strides");
}

/// A batch that shares B is one product if its rows follow each other.
void merge_batch(gemm_args& g, bool a_along_k) {
  if (g.batch == 1 || g.batch_stride_b != 0 || g.row_scale || !a_along_k) return;
  const auto follows = [&](long_index_t stride, index_t ld) { return stride == long_index_t(g.m) * ld; };
  if (!follows(g.batch_stride_a, g.lda) || !follows(g.batch_stride_c, g.ldc) ||
      (g.residual && !follows(g.batch_stride_residual, g.ld_residual)) ||
      long_index_t(g.m) * g.batch > 0x7fffffff - 1024)
    return;
  g.m *= g.batch;
  g.batch = 1;
  g.batch_stride_a = g.batch_stride_c = g.batch_stride_residual = 0;
}

call_key key_of(const jit::gemm_problem& p) {
  const gemm_args& g = p.args;
  call_key key(op);
  key.add(p.type).add(p.result).add(p.a_along_k).add(p.b_along_k).add(p.has_gate);
  key.add(g.m).add(g.n).add(g.k).add(g.lda).add(g.ldb).add(g.ldc).add(g.batch);
  key.add(g.batch_stride_a).add(g.batch_stride_b).add(g.batch_stride_c).add(g.product_stride_b);
  key.add(g.a).add(g.b).add(static_cast<const void*>(g.c)).add(g.bias).add(g.residual);
  key.add(static_cast<const void*>(g.column_scale)).add(g.row_scale != nullptr).add(g.scale != nullptr);
  key.add(g.ld_residual).add(g.batch_stride_residual).add(g.activation != activation::none).add(g.beta != 0);
  return key.add(std::string_view(p.policy));
}

}  // namespace

void gemm(const tensor& c, const tensor& a, const tensor& b, const gemm_options& options) {
  const gemm_operands x = operands_of(c, a, b, options);
  require_product_types(op, x.c, x.a, x.b);
  require_options(x, options);
  jit::gemm_problem p;
  p.type = x.a.type;
  p.result = x.c.type;
  p.a_along_k = x.a.along_cols;
  p.b_along_k = !x.b.along_cols;
  if (options.choice) p.policy = options.choice;
  gemm_args& g = p.args;
  g = {.a = x.a.data, .b = x.b.data, .c = x.c.data, .m = x.c.rows, .n = x.c.cols, .k = x.a.cols};
  g.lda = x.a.ld, g.ldb = x.b.ld, g.ldc = x.c.ld;
  g.split_k = 0;  // to be chosen
  g.alpha = options.alpha, g.beta = options.beta;
  g.batch = x.c.batch;
  g.batch_stride_a = x.a.batch_stride, g.batch_stride_b = x.b.batch_stride, g.batch_stride_c = x.c.batch_stride;
  g.scale = static_cast<const float*>(options.scale.data);
  g.row_scale = static_cast<const float*>(x.row_scale.data);
  g.column_scale = static_cast<const float*>(x.column_scale.data);
  g.bias = options.bias.data;
  g.activation = options.activate;
  if (options.residual.data) set_residual(g, x, options.residual);
  if (options.gate.data) {
    set_gate(g, x, options.gate, options);
    p.has_gate = true;
  }
  merge_batch(g, p.a_along_k);
  require_separate(p);
  run({.operation = op,
       .key = key_of(p),
       .args = &g,
       .args_bytes = sizeof g,
       .stream = options.stream,
       .workspace = &g.workspace,
       .splits = &g.split_k,
       .given_workspace = options.workspace,
       .given_bytes = options.workspace_bytes,
       .choose = choose_gemm_kernels,
       .problem = &p});
}

}  // namespace tilewright::ops
