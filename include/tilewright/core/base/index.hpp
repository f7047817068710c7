// SPDX-License-Identifier: MIT
// The integers that count elements, and integers that are known at compile time.
#pragma once

#include <tilewright/core/base/config.hpp>
#include <tilewright/core/base/nvrtc.hpp>

namespace tilewright {

/// Index and length of one dimension, and offset inside a tile window, in elements.
using index_t = int;
/// Offset inside a whole tensor, in elements.
using long_index_t = long long;

/// In the static part of a descriptor: this length or stride is known only at run time.
inline constexpr index_t dynamic = -2147483647 - 1;

/// An integer that its type carries: number<64>{} is 64 for the compiler, too. As a length or stride it is static. As
/// the last argument of make_naive_tensor_descriptor and make_naive_tensor_view it is the alignment guarantee: see
/// there.
template <auto Value>
struct number {
  static constexpr auto value = Value;  ///< the constant
  /// The constant.
  TILEWRIGHT_HD constexpr operator decltype(Value)() const { return Value; }
};

/// Forces constant evaluation of `value` without instantiating a template. An element of a constant table is then an
/// immediate, and the table not an object of the generated code.
TILEWRIGHT_HD consteval index_t constant(index_t value) { return value; }

/// CK Tile's name for a condition that the type carries.
template <bool Value>
using bool_constant = number<Value>;

namespace detail {

template <class T>
inline constexpr bool is_number_v = false;
template <auto Value>
inline constexpr bool is_number_v<number<Value>> = true;
template <auto Value>
inline constexpr bool is_number_v<const number<Value>> = true;

}  // namespace detail

}  // namespace tilewright
