// SPDX-License-Identifier: MIT
// jit::narrow_gemm(problem): GEMM with one or both operands in narrow formats, as a request to a jit::compiler.
#pragma once

#include <string>

#include <tilewright/jit/element.hpp>
#include <tilewright/jit/kernel_source.hpp>
#include <tilewright/kernels/gemm/gemm_args.hpp>

namespace tilewright::jit {

/// An operand format (docs/narrow_types.md) as text.
struct narrow_format {
  std::string name = "mxfp4";             ///< in the kernel's name: letters, digits, underscores
  std::string type = "tw::mxfp4_format";  ///< its type, derived from tw::operand_format
  std::string code = {};                  ///< C++ that defines the type, for a format that the library does not have
  index_t bits = 4;                       ///< of an element: 4, 6 or 8
  index_t group = 32;                     ///< elements along k that share a scale; 0: a column's
  bool has_zero_points = false;           ///< whether args.b_zeros is read
  index_t scale_bytes = 0;  ///< of a scale; 0: unknown, which leaves out Hopper's kernels for 17 rows and more
};

/// A format of the library by its name in kernels: mxfp4, nvfp4, mxfp8, mxfp8_e5m2, mxfp6_e2m3, mxfp6_e3m2, int8, e4m3,
/// int4_128_bf16 or int4_zero_128_bf16 (the group: 32, 64 or a multiple of 128; 0: a column; and the type of scales).
/// Throws error for other names.
narrow_format narrow_format_of(const std::string& name);

/// C = alpha A decode(B) + beta C, with the epilogue that args has.
struct narrow_gemm_problem {
  element type = element::bf16;    ///< of A, along k: f16 or bf16
  element result = element::bf16;  ///< of C: the same, or f32
  narrow_format format = {};       ///< of B
  /// The lengths decide between kernels; of pointers and strides matters what C's alignment is, and which epilogue they
  /// ask for. split_k: of kernels with a split_k; others split k by themselves, with a workspace.
  narrow_args args = {};
};

/// C = alpha decode(A) decode(B)^T + beta C. Elements are multiplied as they are stored where the target has scaled
/// matrix instructions for both formats (gfx950) and k and the scales' strides suit them; as e4m3 on Hopper for e4m3
/// times MXFP4, with C in bf16, no batch and no args.row_scale; else as bf16.
struct narrow_operands_problem {
  element result = element::bf16;            ///< of C: bf16 or f32
  narrow_format a_format = {}, format = {};  ///< of A, which has no zero points, and of B
  scaled_args args = {};                     ///< as in narrow_gemm_problem
};

/// The kernel takes narrow_args, grouped where args.groups is not 0, for groups of about equal length; of
/// narrow_operands scaled_args. With args.split_k > 1 it needs a workspace of
/// workspace_bytes(args); see narrow_gemm_workspace.
kernel_request narrow_gemm(const narrow_gemm_problem& problem);
kernel_request narrow_gemm(const narrow_operands_problem& problem);

/// Bytes of the workspace that the kernel for a target has or needs; its first 4096 are 0 before and after. 0: none.
long_index_t narrow_gemm_workspace(const narrow_gemm_problem& problem, const std::string& target);
long_index_t narrow_gemm_workspace(const narrow_operands_problem& problem, const std::string& target);

/// Splits of k that fill that many compute units or SMs, for args.split_k: 1 where tiles of C do.
index_t narrow_gemm_splits(const narrow_gemm_problem& problem, const std::string& target, index_t compute_units);
index_t narrow_gemm_splits(const narrow_operands_problem& problem, const std::string& target, index_t compute_units);

}  // namespace tilewright::jit
