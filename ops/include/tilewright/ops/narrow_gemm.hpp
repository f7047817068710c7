// SPDX-License-Identifier: MIT
// narrow_gemm: C = A B^T with weights B of 4 or 8 bits.
#pragma once

#include <tilewright/ops/gemm.hpp>

namespace tilewright::ops {

/// How an operand is stored: see docs/narrow_types.md.
enum class weight_format { int4, mxfp4, nvfp4, mxfp8, int8, e4m3, mxfp8_e5m2, mxfp6_e2m3, mxfp6_e3m2 };

/// B (n, k): k contiguous. Elements of 4 bits lie two in a byte, that of the smaller k in the low bits; of 6 bits four
/// in three bytes. All tensors may have a batch as their first dimension.
struct narrow_weights {
  weight_format format = weight_format::int4;  ///< of codes and scales
  /// (n, bytes of k) of i8: k / 2 with 4 bits, 3 k / 4 with 6, k with 8. Rows start at multiples of 16 bytes, with 6
  /// bits of 48.
  tensor codes = {};
  /// int4: (n, k / group rounded up) of f16, bf16 or f32; nvfp4: (n, k / 16) of fp8; MX formats: (n, k / 32) of i8,
  /// exponents biased by 127; int8, e4m3: (n) of f32. Contiguous along the groups.
  tensor scales = {};
  tensor zeros = {};    ///< int4: zero points 0 to 16, of i8 with scales' lengths and strides; none: 8
  index_t group = 128;  ///< int4: 32, 64 or a multiple of 128
};

/// C (m, n) = alpha A (m, k) B^T + beta C and what the options say, but gate and choice. A: f16 or bf16, contiguous
/// along k, rows at multiples of 16 bytes, each with its leading dimension of memory; C: of A's type or f32, row-major.
/// A third, first dimension is a batch, of which B may have none. NVFP4's factor of the tensor is options.scale, or
/// alpha. Throws operation_error before anything is queued.
void narrow_gemm(const tensor& c, const tensor& a, const narrow_weights& b, const gemm_options& options = {});

/// The same with an A (m, k) that is stored as B is, without zero points; C: bf16 or f32. MX formats are multiplied
/// with their scales by gfx950's matrix instructions, elsewhere as bf16, which is exact. On Hopper e4m3 times MXFP4 is
/// multiplied as e4m3 where C is bf16 and there is no batch and no row_scale; see hopper_narrow_policy.
void narrow_gemm(const tensor& c, const narrow_weights& a, const narrow_weights& b, const gemm_options& options = {});

}  // namespace tilewright::ops
