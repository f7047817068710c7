// SPDX-License-Identifier: MIT
// Arguments of a GEMM kernel: operands, sizes, scalars, what epilogues read.
#pragma once

#include <tilewright/core/base/block_index.hpp>

namespace tilewright {

/// A function of one number. gelu has tanh instead of the error function; silu is x / (1 + exp(-x)).
enum class activation : signed char { none, relu, gelu, silu };

/// C (m, n) = alpha A (m, k) B (k, n) + beta C, with C row-major. Strides and leading dimensions count elements; memory
/// is the device's. A kernel's check() refuses what it cannot do, with an error message. An epilogue of your own may
/// need more: derive from this struct, and name the result as the policy's args_type.
struct gemm_args {
  const void* a = nullptr;            ///< A (m, k) of element_type; Policy::a_major: contiguous along k or m
  const void* b = nullptr;            ///< B (k, n) of b_element_type; Policy::b_major: contiguous along k or n
  void* c = nullptr;                  ///< C (m, n) of result_type, row-major; shares no memory with A or B
  index_t m = 0, n = 0, k = 0;        ///< lengths, >= 1
  index_t lda = 0, ldb = 0;           ///< from one contiguous row or column of A (B) to the next
  index_t ldc = 0;                    ///< from one row of C to the next, >= n
  float alpha = 1, beta = 0;          ///< integers below 2^24 where C is int; with beta = 0 C is not read
  index_t batch = 1;                  ///< problems of equal lengths, >= 1
  long_index_t batch_stride_a = 0;    ///< from a problem's A to the next one's; 0: they share it
  long_index_t batch_stride_b = 0;    ///< likewise for B
  long_index_t batch_stride_c = 0;    ///< likewise for C, of which problems share no element
  long_index_t product_stride_b = 0;  ///< Policy::products = 2: from the first product's B to the second's, both (k, n)

  index_t split_k = 1;  ///< blocks that share a tile of C, each with a range of k; >= 1; see split_k_kind
  /// Scratch memory, aligned to 16 bytes; concurrent launches must not share it. Bytes: the kernel's
  /// workspace_bytes(args); of a gemm_plan, gemm_workspace_bytes. On Hopper its first
  /// hopper_gemm_workspace::counter_bytes, and with split_k_kind::fix_up its first 4096, are 0 before the first launch.
  void* workspace = nullptr;

  // What functions of namespace epilogue read; epilogue::from_args applies those that are not null. Problems of a batch
  // share them, except the residual.
  const float* scale = nullptr;                                      ///< one factor
  const float* row_scale = nullptr;                                  ///< (m) factors
  const float* column_scale = nullptr;                               ///< (n) factors
  const void* bias = nullptr;                                        ///< (n) of C's type, added
  const void* residual = nullptr;                                    ///< (m, n) of C's type, row-major, added
  index_t ld_residual = 0;                                           ///< from one of its rows to the next, >= n
  long_index_t batch_stride_residual = 0;                            ///< from a problem's to the next one's
  tilewright::activation activation = tilewright::activation::none;  ///< applied by epilogue::from_args
};

/// Whether epilogue::from_args has more to apply than alpha and beta.
TILEWRIGHT_HD constexpr bool has_epilogue(const gemm_args& g) {
  return g.scale || g.row_scale || g.column_scale || g.bias || g.residual || g.activation != activation::none;
}

/// What the groups of a grouped GEMM divide: nothing, rows of A and C, or k.
enum class group_kind : signed char { none, rows, k };

/// One GEMM for each group along a dimension; the groups' lengths are known on the device only. A group may be empty. A
/// row that belongs to no group is not written.
///   group_kind::rows   C (rows of g, n) = A (rows of g, k) B of g (k, n). m: all rows; B has batch_stride_b
///   group_kind::k      C of g (m, n) = A (m, k of g) B (k of g, n), 0 where g is empty. k: of all groups; C has
///                      batch_stride_c
struct grouped_args : gemm_args {
  index_t groups = 0;               ///< number of groups
  const index_t* ends = nullptr;    ///< (groups), on the device: group g is [ends[g - 1], ends[g]), the first from 0
  const index_t* counts = nullptr;  ///< or: group g is the first counts[g] of [g slot_rows, (g + 1) slot_rows)
  index_t slot_rows = 0;            ///< with counts: from one group's start to the next one's
};

/// GEMM whose B is stored in a narrow format (operand_format), for policies with b_format: B (n, k) of packed words,
/// each column's k contiguous. ldb and batch_stride_b count elements. The format's scales, and zero points where it has
/// them, are (n, ceil(k / group)), contiguous along k; (n) where a column has one scale. Grouped where `groups` is not
/// 0: group_kind::rows, with B, scales and zero points of a group instead of a problem.
struct narrow_args : grouped_args {
  const void* b_scales = nullptr;          ///< of the format's scale_type
  const void* b_zeros = nullptr;           ///< of the format's zero_type, as many as scales
  index_t ld_b_scales = 0;                 ///< scales (and zero points) from one column to the next; 0: no gaps
  long_index_t batch_stride_b_scales = 0;  ///< from a problem's to the next one's
};

/// narrow_args whose A is stored in a narrow format too, for policies with a_format: A (m, k) of packed words, each
/// row's k contiguous. lda and batch_stride_a count elements. A's scales are (m, ceil(k / group)), contiguous along k.
struct scaled_args : narrow_args {
  const void* a_scales = nullptr;          ///< of the format's scale_type
  index_t ld_a_scales = 0;                 ///< scales from one row to the next; 0: no gaps
  long_index_t batch_stride_a_scales = 0;  ///< from a problem's to the next one's
};

/// GEMM with scales for blocks of 128 along k, for policies that are block_scaled; grouped where `groups` is not 0.
struct block_scaled_args : grouped_args {
  const float* a_scales = nullptr;         ///< (m, ceil(k / 128)): one for each row of A
  const float* b_scales = nullptr;         ///< (ceil(n / 128), ceil(k / 128)), contiguous along k
  index_t row_stride_a_scales = 0;         ///< of a_scales along m
  index_t k_stride_a_scales = 0;           ///< of a_scales along k
  index_t ld_b_scales = 0;                 ///< of b_scales along n
  long_index_t batch_stride_a_scales = 0;  ///< from a problem's a_scales to the next one's
  long_index_t batch_stride_b_scales = 0;  ///< from a problem's (group_kind::rows: group's) b_scales to the next one's
};

}  // namespace tilewright
