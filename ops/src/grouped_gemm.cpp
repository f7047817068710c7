// SPDX-License-Identifier: MIT
#include <tilewright/ops/grouped_gemm.hpp>

#include <tilewright/jit/grouped.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>

#include "gemm_types.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

candidate describe_grouped(const jit::grouped_problem& p, const device_facts& on) {
  candidate c = kernel_for("grouped_gemm", p.type, jit::grouped_gemm(p));
  c.workspace_bytes = on.target == "sm_90a" ? hopper_gemm_workspace::bytes : 0;
  c.counts_in_workspace = true;
  return c;
}

}  // namespace

void grouped_gemm(const tensor& c, const tensor& a, const tensor& b, const tensor& ends,
                  const grouped_gemm_options& options) {
  constexpr const char* name = "grouped_gemm";
  const bool by_rows = c.rank != 3;
  const matrix_view out = as_matrix(name, "C", c), left = as_matrix(name, "A", a, by_rows),
                    right = as_matrix(name, "B", b, !by_rows);
  if (a.rank != 2 || b.rank != (by_rows ? 3 : 2))
    refuse(name, by_rows ? "C and A have two dimensions, and B three: (groups, k, n)"
                         : "C has three dimensions: (groups, m, n), and A and B two");
  require_product_types(name, out, left, right);
  if (left.cols != right.rows || out.rows != left.rows || out.cols != right.cols)
    refuse(name, "C is " + describe(c) + ", A " + describe(a) + " and B " + describe(b) + "; they must be " +
                     (by_rows ? "(rows, n), (rows, k) and (groups, k, n)" : "(groups, m, n), (m, rows) and (rows, n)"));
  if (by_rows && !left.along_cols) refuse(name, "A must be contiguous along its last dimension");
  if (!out.along_cols) refuse(name, "C must be contiguous along its last dimension");
  const long_index_t groups = by_rows ? b.lengths[0] : c.lengths[0];
  require_vector(name, "ends", ends, element::i32, groups);
  jit::grouped_problem p{.type = left.type,
                         .result = out.type,
                         .a_along_k = left.along_cols,
                         .b_along_k = !right.along_cols,
                         .groups = by_rows ? group_kind::rows : group_kind::k,
                         .for_all_lengths = true};
  grouped_args& g = p.args;
  g.a = left.data, g.b = right.data, g.c = out.data;
  g.m = out.rows, g.n = out.cols, g.k = left.cols;
  g.lda = left.ld, g.ldb = right.ld, g.ldc = out.ld;
  g.alpha = options.alpha;
  g.batch_stride_b = right.batch_stride, g.batch_stride_c = out.batch_stride;
  g.groups = index_t(groups);
  g.ends = static_cast<const index_t*>(ends.data);
  run_single<describe_grouped>(
      name,
      key_of_all(name, p.type, p.result, p.groups, p.a_along_k, p.b_along_k, g.a, g.b, g.c, g.m, g.n, g.k, g.lda, g.ldb,
                 g.ldc, g.batch_stride_b, g.batch_stride_c, g.groups),
      p, options.stream, {.workspace = &g.workspace});
}

}  // namespace tilewright::ops
