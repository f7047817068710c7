// SPDX-License-Identifier: MIT
// Matrix instructions of AMD GPUs.
#pragma once

#include <tilewright/arch/matrix_instruction.hpp>
#include <tilewright/exec/amdgcn/native.hpp>
#include <tilewright/numeric/types.hpp>

namespace tilewright::exec {
inline namespace amdgcn {

namespace detail {

template <index_t N>
using floats __attribute__((ext_vector_type(N))) = float;
template <index_t N>
using halves __attribute__((ext_vector_type(N))) = _Float16;
template <index_t N>
using shorts __attribute__((ext_vector_type(N))) = short;
template <index_t N>
using bfloats __attribute__((ext_vector_type(N))) = __bf16;

template <class Vector>
TILEWRIGHT_HD Vector operand(const void* registers, index_t i) {
  Vector v;
  __builtin_memcpy(&v, static_cast<const char*>(registers) + i * index_t(sizeof(Vector)), sizeof(Vector));
  return v;
}

}  // namespace detail

/// How many instructions the machine issues for a group. They add to the same accumulator, so that others may stand between them.
template <arch::matrix_op Op>
inline constexpr index_t mma_parts =
    Op == arch::matrix_op::mfma_16x16x16_x2 || Op == arch::matrix_op::mfma_32x32x8_x2 ? 2 : 1;

/// Part I of mma.
template <arch::matrix_op Op, index_t I, class T>
TILEWRIGHT_HD void mma_part(float* c, [[maybe_unused]] const T* a, [[maybe_unused]] const T* b) {
  using enum arch::matrix_op;
  using namespace detail;
  constexpr bool f16 = __is_same(T, half_t);
  static_assert(f16 || __is_same(T, bfloat16_t), "mma: the operands are half_t or bfloat16_t");
  static_assert(arch::current::value.supports(Op), "mma: this target does not have the matrix instruction");
  constexpr index_t num_c = arch::describe(Op).c.num_registers();
  auto acc = operand<floats<num_c>>(c, 0);
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
  if constexpr (Op == mfma_16x16x16 || Op == mfma_16x16x16_x2) {
    if constexpr (f16) {
      acc = __builtin_amdgcn_mfma_f32_16x16x16f16(operand<halves<4>>(a, I), operand<halves<4>>(b, I), acc, 0, 0, 0);
    } else {
      acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(operand<shorts<4>>(a, I), operand<shorts<4>>(b, I), acc, 0, 0, 0);
    }
  }
  if constexpr (Op == mfma_32x32x8 || Op == mfma_32x32x8_x2) {
    if constexpr (f16) {
      acc = __builtin_amdgcn_mfma_f32_32x32x8f16(operand<halves<4>>(a, I), operand<halves<4>>(b, I), acc, 0, 0, 0);
    } else {
      acc = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(operand<shorts<4>>(a, I), operand<shorts<4>>(b, I), acc, 0, 0, 0);
    }
  }
#endif
#if defined(__gfx950__)
  if constexpr (Op == mfma_16x16x32) {
    if constexpr (f16) {
      acc = __builtin_amdgcn_mfma_f32_16x16x32_f16(operand<halves<8>>(a, 0), operand<halves<8>>(b, 0), acc, 0, 0, 0);
    } else {
      acc = __builtin_amdgcn_mfma_f32_16x16x32_bf16(operand<bfloats<8>>(a, 0), operand<bfloats<8>>(b, 0), acc, 0, 0, 0);
    }
  }
  if constexpr (Op == mfma_32x32x16) {
    if constexpr (f16) {
      acc = __builtin_amdgcn_mfma_f32_32x32x16_f16(operand<halves<8>>(a, 0), operand<halves<8>>(b, 0), acc, 0, 0, 0);
    } else {
      acc = __builtin_amdgcn_mfma_f32_32x32x16_bf16(operand<bfloats<8>>(a, 0), operand<bfloats<8>>(b, 0), acc, 0, 0, 0);
    }
  }
#endif
#if defined(__GFX11__)
  if constexpr (Op == wmma_16x16x16_gfx11) {
    if constexpr (f16) {
      acc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(operand<halves<16>>(a, 0), operand<halves<16>>(b, 0), acc);
    } else {
      acc = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(operand<shorts<16>>(a, 0), operand<shorts<16>>(b, 0), acc);
    }
  }
#endif
#if defined(__GFX12__)
  if constexpr (Op == wmma_16x16x16_gfx12) {
    if constexpr (f16) {
      acc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(operand<halves<8>>(a, 0), operand<halves<8>>(b, 0), acc);
    } else {
      acc = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(operand<shorts<8>>(a, 0), operand<shorts<8>>(b, 0), acc);
    }
  }
#endif
  __builtin_memcpy(c, &acc, sizeof(acc));
}

/// c(m, n) += sum over k of a(m, k) b(n, k), by one wave; c, a and b point to the registers that describe(Op) lists.
template <arch::matrix_op Op, class T>
TILEWRIGHT_HD void mma(float* c, const T* a, const T* b) {
  mma_part<Op, 0>(c, a, b);
  if constexpr (mma_parts<Op> == 2) mma_part<Op, 1>(c, a, b);
}

}  // namespace amdgcn
}  // namespace tilewright::exec
