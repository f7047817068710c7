// SPDX-License-Identifier: MIT
// Arguments of a GEMM kernel: operands, sizes, scalars, what epilogues read.
#pragma once

#include <tilewright/core/base/block_index.hpp>

namespace tilewright {

/// A function of one number. gelu is the one with the error function replaced by tanh; silu is x / (1 + exp(-x)).
enum class activation : signed char { none, relu, gelu, silu };

/// C = alpha A B + beta C with C row-major (m x n). A is m x k and B is k x n; each policy says which of their
/// dimensions is contiguous, the other one has the leading dimension as its stride. An epilogue of your own may need
/// more: derive from this struct, and name the result as the policy's args_type.
/// Strides and leading dimensions count elements.
struct gemm_args {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  index_t m = 0, n = 0, k = 0;
  index_t lda = 0, ldb = 0, ldc = 0;
  float alpha = 1, beta = 0;
  index_t batch = 1;
  long_index_t batch_stride_a = 0, batch_stride_b = 0, batch_stride_c = 0;
  /// With a policy of two products, from the first one's B to the second's; both are k x n, and so is C's n.
  long_index_t product_stride_b = 0;

  index_t split_k = 1;  // parts of k of each tile; with 1, warp_specialized_pipeline splits k where that is faster
  /// Aligned to 16 bytes: a hopper_gemm_workspace for warp_specialized_pipeline and small_m_gemm, else of
  /// workspace_bytes(args), for split_k_kind::workspace.
  void* workspace = nullptr;

  // What the functions of namespace epilogue read; with epilogue::from_args what is not null is done. The same for all
  // problems of a batch, but for the residual.
  const float* scale = nullptr;
  const float* row_scale = nullptr;     // m
  const float* column_scale = nullptr;  // n
  const void* bias = nullptr;           // n, of C's type
  const void* residual = nullptr;       // m x n, row-major, of C's type
  index_t ld_residual = 0;
  long_index_t batch_stride_residual = 0;
  tilewright::activation activation = tilewright::activation::none;  // with epilogue::from_args
};

/// What the groups of a grouped product divide: nothing, rows of A and C, or k.
enum class group_kind : signed char { none, rows, k };

/// Products with a matrix B for each group of rows of A, or of columns of A and rows of B (group_kind::k), whose
/// lengths are known on the device only. There `ends` or `counts` has an element for each group. Groups may be empty;
/// no row of another group is written, and none that belongs to no group. group_kind::rows: C = A B of the row's group.
/// m: all rows; B has batch_stride_b. group_kind::k: C of a group = A B over its k. k: of all groups; C has
/// batch_stride_c, and is 0 where there is no k.
struct grouped_args : gemm_args {
  index_t groups = 0;
  const index_t* ends = nullptr;    // group g has rows [ends[g - 1], ends[g]), the first one from 0 on
  const index_t* counts = nullptr;  // or: group g has the first counts[g] of rows [g slot_rows, (g + 1) slot_rows)
  index_t slot_rows = 0;
};

/// Products of operands with scales for blocks of 128 along k, for policies that are block_scaled; grouped, where
/// `groups` is not 0. Scales are floats: one for each row of A, one for 128 columns of B. Those of
/// the next group's B are batch_stride_b_scales further.
struct block_scaled_args : grouped_args {
  const float* a_scales = nullptr;  // (m, k / 128), both with a stride
  const float* b_scales = nullptr;  // (n / 128, k / 128), contiguous along k
  index_t row_stride_a_scales = 0, k_stride_a_scales = 0, ld_b_scales = 0;
  long_index_t batch_stride_a_scales = 0, batch_stride_b_scales = 0;
};

/// Products of any sizes in one launch. The problems lie in memory that the GPU can read.
struct gemm_group {
  const gemm_args* problems = nullptr;
  index_t count = 0;
  index_t blocks = 0;  // of all problems
};

}  // namespace tilewright
