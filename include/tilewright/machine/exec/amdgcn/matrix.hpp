// SPDX-License-Identifier: MIT
// Matrix instructions of AMD GPUs.
#pragma once

#include <tilewright/core/arch/matrix_element.hpp>
#include <tilewright/machine/exec/amdgcn/machine.hpp>

namespace tilewright::exec::inline amdgcn {

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

/// An operand of Op, with zeros where the instruction takes more elements.
template <arch::matrix_op Op, class Vector, class T>
TILEWRIGHT_HD Vector padded(const T* registers) {
  constexpr index_t bytes = arch::describe(Op).a.num_registers() * index_t(sizeof(T));
  Vector v{};
  __builtin_memcpy(&v, registers, bytes);
  return v;
}

/// Part Nth of an operand of Op, for one instruction. An operand of 16 bytes or more is read as one value, so that the
/// compiler does not split the load that it comes from.
template <class Part, arch::matrix_op Op, index_t Nth, class T>
TILEWRIGHT_HD Part part_of(const T* registers) {
  constexpr index_t bytes = arch::describe(Op).a.num_registers() * index_t(sizeof(T)), issue = sizeof(Part);
  if constexpr (bytes < 16 || issue >= 16) {
    return operand<Part>(registers, Nth);
  } else {
    const auto whole = operand<ints<4>>(registers, Nth * issue / 16);
    constexpr index_t first = Nth * issue % 16 / 4;
    if constexpr (issue == 4) {
      return __builtin_bit_cast(Part, int(whole[first]));
    } else {
      return __builtin_bit_cast(Part, __builtin_shufflevector(whole, whole, first, first + 1));
    }
  }
}

/// The element types that builtins distinguish.
template <class A, class B>
struct elements {
  static constexpr bool f16 = __is_same(A, half_t), bf16 = __is_same(A, bfloat16_t), i8 = __is_same(A, int8_t);
  // As mfma_scale_f32_..._f8f6f4 counts formats of 8 bits: 0 is e4m3, 1 e5m2.
  static constexpr int a_format = __is_same(A, bf8_ocp_t) || __is_same(A, bf8_fnuz_t);
  static constexpr int b_format = __is_same(B, bf8_ocp_t) || __is_same(B, bf8_fnuz_t);
  static constexpr bool is_fp8 = tilewright::detail::is_fp8_v<A>, fp8 = is_fp8 && !a_format && !b_format,
                        bf8 = a_format && b_format;
  static constexpr bool fp8_bf8 = is_fp8 && !a_format && b_format, bf8_fp8 = is_fp8 && a_format && !b_format;
};

// One builtin for each pair of instruction and element; each takes its own types.
#define TILEWRIGHT_MFMA(condition, builtin, type, ...) \
  if constexpr (condition)                             \
  acc = __builtin_amdgcn_##builtin(part_of<type, Op, Nth>(a), part_of<type, Op, Nth>(b), acc, __VA_ARGS__)
#define TILEWRIGHT_WMMA(condition, builtin, type) \
  if constexpr (condition) acc = __builtin_amdgcn_##builtin(part_of<type, Op, Nth>(a), part_of<type, Op, Nth>(b), acc)
#define TILEWRIGHT_WMMA_I8(condition, builtin, type) \
  if constexpr (condition)                           \
  acc = __builtin_amdgcn_##builtin(true, part_of<type, Op, Nth>(a), true, part_of<type, Op, Nth>(b), acc, false)

#define TILEWRIGHT_WMMA_GFX1250(condition, builtin, type) \
  if constexpr (condition)                                \
  acc = __builtin_amdgcn_##builtin(operand<type>(a, 0), operand<type>(b, 0), short(0), acc, false, false)

/// Part Nth of Op on CDNA.
template <arch::matrix_op Op, index_t Nth, class C, class A, class B>
TILEWRIGHT_HD void mfma_issue([[maybe_unused]] C& acc, [[maybe_unused]] const A* a, [[maybe_unused]] const B* b) {
  using enum arch::matrix_op;
  using e [[maybe_unused]] = elements<A, B>;
#if __has_builtin(__builtin_amdgcn_mfma_f32_16x16x16f16)
  constexpr bool k16 = Op == mfma_16x16x16 || Op == mfma_16x16x16_x2, k8 = Op == mfma_32x32x8 || Op == mfma_32x32x8_x2;
  TILEWRIGHT_MFMA(k16 && e::f16, mfma_f32_16x16x16f16, halves<4>, 0, 0, 0);
  TILEWRIGHT_MFMA(k8 && e::f16, mfma_f32_32x32x8f16, halves<4>, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_16x16x4_b32_x4, mfma_f32_16x16x4f32, float, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x2_b32_x4, mfma_f32_32x32x2f32, float, 0, 0, 0);
#endif
#if __has_builtin(__builtin_amdgcn_mfma_f32_16x16x16bf16_1k)
  TILEWRIGHT_MFMA(k16 && e::bf16, mfma_f32_16x16x16bf16_1k, shorts<4>, 0, 0, 0);
  TILEWRIGHT_MFMA(k8 && e::bf16, mfma_f32_32x32x8bf16_1k, shorts<4>, 0, 0, 0);
#endif
#if __has_builtin(__builtin_amdgcn_mfma_i32_16x16x16i8)
  TILEWRIGHT_MFMA(Op == mfma_16x16x16_b8_x4, mfma_i32_16x16x16i8, int, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x8_b8_x4, mfma_i32_32x32x8i8, int, 0, 0, 0);
#endif
#if __has_builtin(__builtin_amdgcn_mfma_i32_16x16x32_i8)
  TILEWRIGHT_MFMA(Op == mfma_16x16x32_b8_x2 && e::i8, mfma_i32_16x16x32_i8, long, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x16_b8_x2 && e::i8, mfma_i32_32x32x16_i8, long, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_16x16x32_b8_x2 && e::fp8, mfma_f32_16x16x32_fp8_fp8, long, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x16_b8_x2 && e::fp8, mfma_f32_32x32x16_fp8_fp8, long, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_16x16x32_b8_x2 && e::bf8, mfma_f32_16x16x32_bf8_bf8, long, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x16_b8_x2 && e::bf8, mfma_f32_32x32x16_bf8_bf8, long, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_16x16x32_b8_x2 && e::fp8_bf8, mfma_f32_16x16x32_fp8_bf8, long, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x16_b8_x2 && e::fp8_bf8, mfma_f32_32x32x16_fp8_bf8, long, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_16x16x32_b8_x2 && e::bf8_fp8, mfma_f32_16x16x32_bf8_fp8, long, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x16_b8_x2 && e::bf8_fp8, mfma_f32_32x32x16_bf8_fp8, long, 0, 0, 0);
#endif
#if __has_builtin(__builtin_amdgcn_mfma_f32_16x16x32_f16)
  TILEWRIGHT_MFMA(Op == mfma_16x16x32 && e::f16, mfma_f32_16x16x32_f16, halves<8>, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_16x16x32 && e::bf16, mfma_f32_16x16x32_bf16, bfloats<8>, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x16 && e::f16, mfma_f32_32x32x16_f16, halves<8>, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x16 && e::bf16, mfma_f32_32x32x16_bf16, bfloats<8>, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_16x16x64_b8, mfma_i32_16x16x64_i8, ints<4>, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x32_b8, mfma_i32_32x32x32_i8, ints<4>, 0, 0, 0);
  // With scales of 0 it is the instruction that does not scale.
  TILEWRIGHT_MFMA(Op == mfma_16x16x128_b8 && e::is_fp8, mfma_scale_f32_16x16x128_f8f6f4, ints<8>, e::a_format,
                  e::b_format, 0, 0, 0, 0);
  TILEWRIGHT_MFMA(Op == mfma_32x32x64_b8 && e::is_fp8, mfma_scale_f32_32x32x64_f8f6f4, ints<8>, e::a_format,
                  e::b_format, 0, 0, 0, 0);
#endif
}

/// Part Nth of Op on RDNA.
template <arch::matrix_op Op, index_t Nth, class C, class A, class B>
TILEWRIGHT_HD void wmma_issue([[maybe_unused]] C& acc, [[maybe_unused]] const A* a, [[maybe_unused]] const B* b) {
  using enum arch::matrix_op;
  using e [[maybe_unused]] = elements<A, B>;
#if __has_builtin(__builtin_amdgcn_wmma_f32_16x16x16_f16_w32)
  TILEWRIGHT_WMMA(Op == wmma_16x16x16_gfx11 && e::f16, wmma_f32_16x16x16_f16_w32, halves<16>);
  TILEWRIGHT_WMMA(Op == wmma_16x16x16_gfx11 && e::bf16, wmma_f32_16x16x16_bf16_w32, shorts<16>);
  TILEWRIGHT_WMMA_I8(Op == wmma_16x16x16_b8_gfx11, wmma_i32_16x16x16_iu8_w32, ints<4>);
#endif
#if __has_builtin(__builtin_amdgcn_wmma_f32_16x16x32_f16)
  // k of 16 is the lower half of k: lanes hold the same elements there as on gfx12.
  constexpr bool k32 = Op == wmma_16x16x32_gfx1250 || Op == wmma_16x16x16_gfx12, k64 = Op == wmma_16x16x64_b8_gfx1250,
                 k128 = Op == wmma_16x16x128_b8_gfx1250;
  if constexpr (k32 && e::f16)
    acc = __builtin_amdgcn_wmma_f32_16x16x32_f16(false, padded<Op, halves<16>>(a), false, padded<Op, halves<16>>(b),
                                                 short(0), acc, false, false);
  if constexpr (k32 && e::bf16)
    acc = __builtin_amdgcn_wmma_f32_16x16x32_bf16(false, padded<Op, bfloats<16>>(a), false, padded<Op, bfloats<16>>(b),
                                                  short(0), acc, false, false);
  if constexpr (k64 && e::i8)
    acc = __builtin_amdgcn_wmma_i32_16x16x64_iu8(true, operand<ints<8>>(a, 0), true, operand<ints<8>>(b, 0), acc, false,
                                                 false);
  TILEWRIGHT_WMMA_GFX1250(k64 && e::fp8, wmma_f32_16x16x64_fp8_fp8, ints<8>);
  TILEWRIGHT_WMMA_GFX1250(k64 && e::bf8, wmma_f32_16x16x64_bf8_bf8, ints<8>);
  TILEWRIGHT_WMMA_GFX1250(k64 && e::fp8_bf8, wmma_f32_16x16x64_fp8_bf8, ints<8>);
  TILEWRIGHT_WMMA_GFX1250(k64 && e::bf8_fp8, wmma_f32_16x16x64_bf8_fp8, ints<8>);
  TILEWRIGHT_WMMA_GFX1250(k128 && e::fp8, wmma_f32_16x16x128_fp8_fp8, ints<16>);
  TILEWRIGHT_WMMA_GFX1250(k128 && e::bf8, wmma_f32_16x16x128_bf8_bf8, ints<16>);
  TILEWRIGHT_WMMA_GFX1250(k128 && e::fp8_bf8, wmma_f32_16x16x128_fp8_bf8, ints<16>);
  TILEWRIGHT_WMMA_GFX1250(k128 && e::bf8_fp8, wmma_f32_16x16x128_bf8_fp8, ints<16>);
#elif __has_builtin(__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12)
  constexpr bool b8 = Op == wmma_16x16x16_b8_x2_gfx12;
  TILEWRIGHT_WMMA(Op == wmma_16x16x16_gfx12 && e::f16, wmma_f32_16x16x16_f16_w32_gfx12, halves<8>);
  TILEWRIGHT_WMMA(Op == wmma_16x16x16_gfx12 && e::bf16, wmma_f32_16x16x16_bf16_w32_gfx12, shorts<8>);
  TILEWRIGHT_WMMA(b8 && e::fp8, wmma_f32_16x16x16_fp8_fp8_w32_gfx12, ints<2>);
  TILEWRIGHT_WMMA(b8 && e::bf8, wmma_f32_16x16x16_bf8_bf8_w32_gfx12, ints<2>);
  TILEWRIGHT_WMMA(b8 && e::fp8_bf8, wmma_f32_16x16x16_fp8_bf8_w32_gfx12, ints<2>);
  TILEWRIGHT_WMMA(b8 && e::bf8_fp8, wmma_f32_16x16x16_bf8_fp8_w32_gfx12, ints<2>);
  TILEWRIGHT_WMMA_I8(b8 && e::i8, wmma_i32_16x16x16_iu8_w32_gfx12, ints<2>);
#endif
}

#undef TILEWRIGHT_MFMA
#undef TILEWRIGHT_WMMA
#undef TILEWRIGHT_WMMA_I8
#undef TILEWRIGHT_WMMA_GFX1250

}  // namespace detail

/// Instructions of other groups may be scheduled between them: all add to the same accumulator.
template <arch::matrix_op Op>
inline constexpr index_t mma_issues = arch::num_issues(Op);

template <arch::matrix_op Op, index_t Nth, class Accumulator, class A, class B>
TILEWRIGHT_HD void mma_issue(Accumulator* c, const A* a, const B* b) {
  static_assert(arch::current::value.supports(Op, arch::matrix_element_v<A>, arch::matrix_element_v<B>),
                "mma: this target does not have the matrix instruction for these elements");
  static_assert(__is_same(Accumulator, tilewright::detail::accumulator_t<A>),
                "mma: int8_t is added up in int, everything else in float");
  constexpr index_t n = arch::describe(Op).c.num_registers();
  constexpr bool i8 = __is_same(A, int8_t);
  auto acc = detail::operand<tilewright::detail::conditional_t<i8, detail::ints<n>, detail::floats<n>>>(c, 0);
  detail::mfma_issue<Op, Nth>(acc, a, b);
  detail::wmma_issue<Op, Nth>(acc, a, b);
  __builtin_memcpy(c, &acc, sizeof(acc));
}

template <arch::matrix_op Op, class Accumulator, class A, class B>
TILEWRIGHT_HD void mma(Accumulator* c, const A* a, const B* b) {
  mma_issue<Op, 0>(c, a, b);
  if constexpr (mma_issues<Op> >= 2) mma_issue<Op, 1>(c, a, b);
  if constexpr (mma_issues<Op> == 4) {
    mma_issue<Op, 2>(c, a, b);
    mma_issue<Op, 3>(c, a, b);
  }
}

namespace detail {

/// A lane's 32 elements of E as the builtin takes them, of which the instruction reads bits_of(E) registers.
template <arch::scaled_element E>
TILEWRIGHT_HD ints<8> scaled_operand(const unsigned* registers) {
  constexpr index_t n = arch::bits_of(E);
  if constexpr (n == 8) {
    return operand<ints<8>>(registers, 0);
  } else if constexpr (n == 4) {
    const auto v = operand<ints<4>>(registers, 0);
    return __builtin_shufflevector(v, v, 0, 1, 2, 3, -1, -1, -1, -1);
  } else {
    const ints<6> v = {int(registers[0]), int(registers[1]), int(registers[2]),
                       int(registers[3]), int(registers[4]), int(registers[5])};
    return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, -1, -1);
  }
}

}  // namespace detail

template <arch::matrix_op Op, index_t Byte, arch::scaled_element AElement, arch::scaled_element BElement>
TILEWRIGHT_HD void mma_scaled([[maybe_unused]] float* c, [[maybe_unused]] const unsigned* a,
                              [[maybe_unused]] const unsigned* b, [[maybe_unused]] unsigned a_scales,
                              [[maybe_unused]] unsigned b_scales) {
#if defined(__gfx950__)
  constexpr index_t n = arch::describe(Op).c.num_registers();
  auto acc = detail::operand<detail::floats<n>>(c, 0);
  const auto va = detail::scaled_operand<AElement>(a), vb = detail::scaled_operand<BElement>(b);
  if constexpr (Op == arch::matrix_op::mfma_32x32x64_b8) {
    acc = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(va, vb, acc, int(AElement), int(BElement), Byte,
                                                          int(a_scales), Byte, int(b_scales));
  } else {
    static_assert(Op == arch::matrix_op::mfma_16x16x128_b8,
                  "mma_scaled: the scaled instructions are mfma_32x32x64_b8 and mfma_16x16x128_b8");
    acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(va, vb, acc, int(AElement), int(BElement), Byte,
                                                           int(a_scales), Byte, int(b_scales));
  }
  __builtin_memcpy(c, &acc, sizeof(acc));
#else
  static_assert(Byte < 0, "mma_scaled: gfx950 alone has scaled matrix instructions; use dequantising_policy");
#endif
}

}  // namespace tilewright::exec::inline amdgcn
