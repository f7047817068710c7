// SPDX-License-Identifier: MIT
// Matrix instructions of AMD GPUs.
#pragma once

#include <tilewright/arch/matrix_element.hpp>
#include <tilewright/exec/amdgcn/native.hpp>

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
using ints __attribute__((ext_vector_type(N))) = int;
template <index_t N>
using bfloats __attribute__((ext_vector_type(N))) = __bf16;

template <class Vector>
TILEWRIGHT_HD Vector operand(const void* registers, index_t i) {
  Vector v;
  __builtin_memcpy(&v, static_cast<const char*>(registers) + i * index_t(sizeof(Vector)), sizeof(Vector));
  return v;
}

/// Part I of an operand of Op, for one instruction. Where the whole is 16 bytes or more, these are read as one value,
/// so that the compiler does not split the load that they come from.
template <class Part, arch::matrix_op Op, index_t I, class T>
TILEWRIGHT_HD Part part_of(const T* registers) {
  constexpr index_t bytes = arch::describe(Op).a.num_registers() * index_t(sizeof(T)), part = sizeof(Part);
  if constexpr (bytes < 16 || part >= 16) {
    return operand<Part>(registers, I);
  } else {
    const auto whole = operand<ints<4>>(registers, I * part / 16);
    constexpr index_t first = I * part % 16 / 4;
    if constexpr (part == 4) {
      return __builtin_bit_cast(Part, int(whole[first]));
    } else {
      return __builtin_bit_cast(Part, __builtin_shufflevector(whole, whole, first, first + 1));
    }
  }
}

}  // namespace detail

/// How many instructions the machine issues for a group. They add to the same accumulator,
/// so that others may stand between them.
template <arch::matrix_op Op>
inline constexpr index_t mma_parts = arch::num_issues(Op);

// One builtin for each pair of instruction and element; each takes its own types.
#define TILEWRIGHT_MMA(condition, builtin, type, ...) \
  if constexpr (condition)                            \
  acc = __builtin_amdgcn_##builtin(part_of<type, Op, I>(a), part_of<type, Op, I>(b), acc, __VA_ARGS__)

/// Part I of mma.
template <arch::matrix_op Op, index_t I, class Accumulator, class A, class B>
TILEWRIGHT_HD void mma_part(Accumulator* c, [[maybe_unused]] const A* a, [[maybe_unused]] const B* b) {
  using enum arch::matrix_op;
  using namespace detail;
  static_assert(arch::current::value.supports(Op, matrix_element_v<A>, matrix_element_v<B>),
                "mma: this target does not have the matrix instruction for these elements");
  static_assert(__is_same(Accumulator, accumulator_t<A>), "mma: int8_t is added up in int, everything else in float");
  constexpr index_t n = arch::describe(Op).c.num_registers();
  [[maybe_unused]] constexpr bool f16 = __is_same(A, half_t), bf16 = __is_same(A, bfloat16_t),
                                  i8 = __is_same(A, int8_t);
  // Formats of 8-bit floating-point numbers as mfma_scale_f32_..._f8f6f4 counts them: 0 is e4m3, 1 e5m2.
  [[maybe_unused]] constexpr bool is_8bit_float = is_fp8_v<A>;
  [[maybe_unused]] constexpr int a_format = __is_same(A, bf8_ocp_t) || __is_same(A, bf8_fnuz_t);
  [[maybe_unused]] constexpr int b_format = __is_same(B, bf8_ocp_t) || __is_same(B, bf8_fnuz_t);
  [[maybe_unused]] constexpr bool fp8 = is_8bit_float && !a_format && !b_format, bf8 = a_format && b_format,
                                  fp8_bf8 = is_8bit_float && !a_format && b_format,
                                  bf8_fp8 = is_8bit_float && a_format && !b_format;
  auto acc = operand<tilewright::detail::conditional_t<i8, ints<n>, floats<n>>>(c, 0);
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
  constexpr bool k16 = Op == mfma_16x16x16 || Op == mfma_16x16x16_x2, k8 = Op == mfma_32x32x8 || Op == mfma_32x32x8_x2;
  TILEWRIGHT_MMA(k16 && f16, mfma_f32_16x16x16f16, halves<4>, 0, 0, 0);
  TILEWRIGHT_MMA(k16 && bf16, mfma_f32_16x16x16bf16_1k, shorts<4>, 0, 0, 0);
  TILEWRIGHT_MMA(k8 && f16, mfma_f32_32x32x8f16, halves<4>, 0, 0, 0);
  TILEWRIGHT_MMA(k8 && bf16, mfma_f32_32x32x8bf16_1k, shorts<4>, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_16x16x4_b32_x4, mfma_f32_16x16x4f32, float, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x2_b32_x4, mfma_f32_32x32x2f32, float, 0, 0, 0);
#endif
#if defined(__gfx90a__)
  TILEWRIGHT_MMA(Op == mfma_16x16x16_b8_x4, mfma_i32_16x16x16i8, int, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x8_b8_x4, mfma_i32_32x32x8i8, int, 0, 0, 0);
#endif
#if defined(__gfx942__) || defined(__gfx950__)
  TILEWRIGHT_MMA(Op == mfma_16x16x32_b8_x2 && i8, mfma_i32_16x16x32_i8, long, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x16_b8_x2 && i8, mfma_i32_32x32x16_i8, long, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_16x16x32_b8_x2 && fp8, mfma_f32_16x16x32_fp8_fp8, long, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x16_b8_x2 && fp8, mfma_f32_32x32x16_fp8_fp8, long, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_16x16x32_b8_x2 && bf8, mfma_f32_16x16x32_bf8_bf8, long, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x16_b8_x2 && bf8, mfma_f32_32x32x16_bf8_bf8, long, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_16x16x32_b8_x2 && fp8_bf8, mfma_f32_16x16x32_fp8_bf8, long, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x16_b8_x2 && fp8_bf8, mfma_f32_32x32x16_fp8_bf8, long, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_16x16x32_b8_x2 && bf8_fp8, mfma_f32_16x16x32_bf8_fp8, long, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x16_b8_x2 && bf8_fp8, mfma_f32_32x32x16_bf8_fp8, long, 0, 0, 0);
#endif
#if defined(__gfx950__)
  TILEWRIGHT_MMA(Op == mfma_16x16x32 && f16, mfma_f32_16x16x32_f16, halves<8>, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_16x16x32 && bf16, mfma_f32_16x16x32_bf16, bfloats<8>, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x16 && f16, mfma_f32_32x32x16_f16, halves<8>, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x16 && bf16, mfma_f32_32x32x16_bf16, bfloats<8>, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_16x16x64_b8, mfma_i32_16x16x64_i8, ints<4>, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x32_b8, mfma_i32_32x32x32_i8, ints<4>, 0, 0, 0);
  // With scales of 0 it is the instruction that does not scale.
  TILEWRIGHT_MMA(Op == mfma_16x16x128_b8 && is_8bit_float, mfma_scale_f32_16x16x128_f8f6f4, ints<8>, a_format, b_format,
                 0, 0, 0, 0);
  TILEWRIGHT_MMA(Op == mfma_32x32x64_b8 && is_8bit_float, mfma_scale_f32_32x32x64_f8f6f4, ints<8>, a_format, b_format,
                 0, 0, 0, 0);
#endif
#if defined(__GFX11__)
  if constexpr (Op == wmma_16x16x16_gfx11 && f16) {
    acc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(operand<halves<16>>(a, 0), operand<halves<16>>(b, 0), acc);
  }
  if constexpr (Op == wmma_16x16x16_gfx11 && bf16) {
    acc = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(operand<shorts<16>>(a, 0), operand<shorts<16>>(b, 0), acc);
  }
  if constexpr (Op == wmma_16x16x16_b8_gfx11) {
    acc = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, operand<ints<4>>(a, 0), true, operand<ints<4>>(b, 0), acc,
                                                     false);
  }
#endif
#if defined(__GFX12__)
  if constexpr (Op == wmma_16x16x16_gfx12 && f16) {
    acc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(operand<halves<8>>(a, 0), operand<halves<8>>(b, 0), acc);
  }
  if constexpr (Op == wmma_16x16x16_gfx12 && bf16) {
    acc = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(operand<shorts<8>>(a, 0), operand<shorts<8>>(b, 0), acc);
  }
  if constexpr (Op == wmma_16x16x16_b8_x2_gfx12 && fp8) {
    acc = __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(part_of<ints<2>, Op, I>(a), part_of<ints<2>, Op, I>(b),
                                                               acc);
  }
  if constexpr (Op == wmma_16x16x16_b8_x2_gfx12 && bf8) {
    acc = __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12(part_of<ints<2>, Op, I>(a), part_of<ints<2>, Op, I>(b),
                                                               acc);
  }
  if constexpr (Op == wmma_16x16x16_b8_x2_gfx12 && fp8_bf8) {
    acc = __builtin_amdgcn_wmma_f32_16x16x16_fp8_bf8_w32_gfx12(part_of<ints<2>, Op, I>(a), part_of<ints<2>, Op, I>(b),
                                                               acc);
  }
  if constexpr (Op == wmma_16x16x16_b8_x2_gfx12 && bf8_fp8) {
    acc = __builtin_amdgcn_wmma_f32_16x16x16_bf8_fp8_w32_gfx12(part_of<ints<2>, Op, I>(a), part_of<ints<2>, Op, I>(b),
                                                               acc);
  }
  if constexpr (Op == wmma_16x16x16_b8_x2_gfx12 && i8) {
    acc = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, part_of<ints<2>, Op, I>(a), true,
                                                           part_of<ints<2>, Op, I>(b), acc, false);
  }
#endif
  __builtin_memcpy(c, &acc, sizeof(acc));
}

#undef TILEWRIGHT_MMA

/// c(m, n) += sum over k of a(m, k) b(n, k), by one wave; 8-bit floating-point numbers may be mixed. c, a and b point
/// to the registers that describe(Op) lists.
template <arch::matrix_op Op, class Accumulator, class A, class B>
TILEWRIGHT_HD void mma(Accumulator* c, const A* a, const B* b) {
  mma_part<Op, 0>(c, a, b);
  if constexpr (mma_parts<Op> >= 2) mma_part<Op, 1>(c, a, b);
  if constexpr (mma_parts<Op> == 4) {
    mma_part<Op, 2>(c, a, b);
    mma_part<Op, 3>(c, a, b);
  }
}

}  // namespace amdgcn
}  // namespace tilewright::exec
