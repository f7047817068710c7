// SPDX-License-Identifier: MIT
// What an atomic update does to memory, for the machines and for compare-and-swap
// loops where a machine has no instruction.
#pragma once

#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/base/vector.hpp>

namespace tilewright::exec {

/// What an atomic update does with the old value.
enum class atomic_op : signed char { add, max };

}  // namespace tilewright::exec

namespace tilewright::detail {

using exec::atomic_op;

template <class V>
inline constexpr bool is_pair_v = __is_same(V, vector_t<half_t, 2>) || __is_same(V, vector_t<bfloat16_t, 2>);

/// Atomic updates change 4 bytes: a number, or a pair of 16-bit ones.
template <class V>
inline constexpr bool is_atomic_v = __is_same(V, int) || __is_same(V, unsigned) || __is_same(V, float) || is_pair_v<V>;

template <atomic_op Op, class T>
TILEWRIGHT_HD constexpr T apply_to_element(T old, T value) {
  if constexpr (Op == atomic_op::add) return T(old + value);
  if constexpr (Op == atomic_op::max) return old < value ? value : old;
}

/// The bits that replace `old`. 16-bit elements are added in float, which rounds as if once.
template <atomic_op Op, class V>
TILEWRIGHT_HD constexpr unsigned apply_atomic(unsigned old, V value) {
  if constexpr (is_pair_v<V>) {
    V result = bit_cast<V>(old);
    for (index_t i = 0; i < 2; ++i) {
      result[i] = type_convert<typename V::element_type>(apply_to_element<Op>(float(result[i]), float(value[i])));
    }
    return bit_cast<unsigned>(result);
  } else if constexpr (__is_same(V, int) && Op == atomic_op::add) {
    return old + unsigned(value);
  } else {
    return bit_cast<unsigned>(apply_to_element<Op>(bit_cast<V>(old), value));
  }
}

}  // namespace tilewright::detail
