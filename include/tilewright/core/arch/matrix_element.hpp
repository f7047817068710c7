// SPDX-License-Identifier: MIT
// Element types of matrix instructions: which one a C++ type is, and what its products are added up in.
#pragma once

#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/core/base/types.hpp>

namespace tilewright::detail {

template <class T>
TILEWRIGHT_HD constexpr arch::matrix_element element_of() {
  using enum arch::matrix_element;
  constexpr bool is_known = is_small_float_v<T> || __is_same(T, float) || __is_same(T, int8_t);
  static_assert(is_known, "matrix_element_v: operands are half_t, bfloat16_t, float, int8_t or an 8-bit float");
  if constexpr (__is_same(T, bfloat16_t)) return bf16;
  if constexpr (__is_same(T, float)) return f32;
  if constexpr (__is_same(T, fp8_ocp_t)) return fp8_ocp;
  if constexpr (__is_same(T, bf8_ocp_t)) return bf8_ocp;
  if constexpr (__is_same(T, fp8_fnuz_t)) return fp8_fnuz;
  if constexpr (__is_same(T, bf8_fnuz_t)) return bf8_fnuz;
  if constexpr (__is_same(T, int8_t)) return i8;
  return f16;
}

/// What matrix instructions add products of T in. An alias with __is_same would be more than clang 16 can mangle.
template <class T>
inline constexpr bool adds_integers = __is_same(T, int8_t);
template <class T>
using accumulator_t = tilewright::detail::conditional_t<adds_integers<T>, int, float>;

}  // namespace tilewright::detail

namespace tilewright::arch {

/// The matrix_element of half_t, bfloat16_t, float, an fp8 type or int8_t.
template <class T>
inline constexpr matrix_element matrix_element_v = tilewright::detail::element_of<T>();

/// Elements of gfx950's scaled matrix instructions (v_mfma_scale_f32_..._f8f6f4), as they are numbered there.
enum class scaled_element : signed char { e4m3, e5m2, e2m3, e3m2, e2m1, none = -1 };

/// Bits of an element, and 32-bit registers of a lane's 32 elements.
TILEWRIGHT_HD constexpr index_t bits_of(scaled_element e) {
  return e <= scaled_element::e5m2 ? 8 : e == scaled_element::e2m1 ? 4 : 6;
}

}  // namespace tilewright::arch
