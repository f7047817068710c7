// SPDX-License-Identifier: MIT
// gemm: C = A B with an epilogue, for all layouts, shapes and devices.
#pragma once

#include <tilewright/kernels/gemm/gemm_args.hpp>
#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

/// What is done to the sums before they become C, in the order of the members that are given; how the call runs.
struct gemm_options {
  float alpha = 1;           ///< factor of A B
  tensor scale = {};         ///< one f32: another factor, in device memory
  tensor row_scale = {};     ///< (m) of f32: a factor for each row of C
  tensor column_scale = {};  ///< (n) of f32: a factor for each column of C
  tensor bias = {};          ///< (n) of C's type, added to each row of C
  activation activate = activation::none;
  tensor residual = {};  ///< of C's lengths and type, added; may be C itself
  float beta = 0;        ///< beta C is added; 0: C is not read
  tensor gate = {};      ///< of B's lengths, type and strides: C = silu(A gate) (A B) (SwiGLU), without the above

  const char* choice = nullptr;  ///< fixes the kernel, as explain() names it; null: the library chooses
  /// Scratch memory of the device, aligned to 16 bytes, for calls with this one alone until they have ended; its bytes.
  /// Null: the library keeps one for each stream, which grows when a call needs more.
  void* workspace = nullptr;
  long_index_t workspace_bytes = 0;
  void* stream = nullptr;  ///< cudaStream_t, CUstream or hipStream_t; null: the default stream of the current device
};

/// C (m, n) = alpha A (m, k) B (k, n) + beta C, and what the options say. A third, first dimension is a batch; a tensor
/// that has none, or a stride of 0 there, is shared. Each matrix is contiguous along one of its dimensions, C as well.
///
///   A and B            C
///   f16                f16, f32
///   bf16               bf16, f32
///   f32                f32
///   fp8, bf8           f32, f16, bf16
///   i8                 i32 (no options but alpha and beta)
///
/// C shares no memory with A or B. Throws operation_error before anything is queued.
void gemm(const tensor& c, const tensor& a, const tensor& b, const gemm_options& options = {});

}  // namespace tilewright::ops
