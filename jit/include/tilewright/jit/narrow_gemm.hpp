// SPDX-License-Identifier: MIT
// jit::narrow_gemm(problem): GEMM whose B is stored in a narrow format, as a request to a jit::compiler.
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
  index_t bits = 4;                       ///< of an element: 4 or 8
  index_t group = 32;                     ///< elements along k that share a scale; 0: a column's
  bool has_zero_points = false;           ///< whether args.b_zeros is read
};

/// A format of the library by its name in kernels: mxfp4, nvfp4, mxfp8, int8, e4m3, int4_128_bf16 or int4_zero_128_bf16
/// (the group: 32, 64 or a multiple of 128; 0: a column; and the type of scales). Throws error for other names.
narrow_format narrow_format_of(const std::string& name);

/// C = alpha A decode(B) + beta C, with the epilogue that args has.
struct narrow_gemm_problem {
  element type = element::bf16;    ///< of A, along k: f16 or bf16
  element result = element::bf16;  ///< of C: the same, or f32
  narrow_format format = {};       ///< of B
  /// m decides between kernels for small M and others; of pointers and strides matters what C's alignment is, and which
  /// epilogue they ask for.
  narrow_args args = {};
};

/// The kernel takes narrow_args; grouped where args.groups is not 0, for rows of groups of about equal length. Up to 16 rows on sm_90a: with a hopper_gemm_workspace or none.
kernel_request narrow_gemm(const narrow_gemm_problem& problem);

}  // namespace tilewright::jit
