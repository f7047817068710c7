// SPDX-License-Identifier: MIT
// grouped_gemm: one GEMM for each group of rows, or of k, whose lengths the device knows (experts of MoE).
#pragma once

#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct grouped_gemm_options {
  float alpha = 1;         ///< factor of A B
  void* stream = nullptr;  ///< as in gemm_options
};

/// C (rows of g, n) = alpha A (rows of g, k) B[g] (k, n) for each group g. a: (rows, k), contiguous along k; b:
/// (groups, k, n), each contiguous along one dimension; c: (rows, n), contiguous along n; ends: i32 (groups): group g
/// is rows [ends[g - 1], ends[g]), the first from 0. Rows from the last end on are not written. Types as in gemm.
///
/// With a C of three dimensions, C[g] (m, n) = alpha A (m, rows of g) B (rows of g, n), 0 where g is empty: the
/// gradient of B. a: (m, rows), b: (rows, n), each contiguous along one dimension; c: (groups, m, n), contiguous along
/// n.
void grouped_gemm(const tensor& c, const tensor& a, const tensor& b, const tensor& ends,
                  const grouped_gemm_options& options = {});

}  // namespace tilewright::ops
