// SPDX-License-Identifier: MIT
// Bits of registers without a value: of accumulators that wgmma still adds to, and of variables that nothing has set.
#pragma once

#include <tilewright/core/base/types.hpp>
#include <tilewright/machine/emulator/threads/refuse.hpp>

namespace tilewright::emulator {

inline constexpr unsigned accumulator_poison = 0xffa5ffa5;

/// Whether 4 bytes are the poison, a result of arithmetic with it, or two of these rounded to 16 bits.
inline bool is_accumulator_poison(unsigned word) {
  constexpr unsigned quiet = accumulator_poison | 0x00400000;  // what arithmetic makes of it
  static const float result = bit_cast<float>(quiet);
  static const unsigned halves = tilewright::detail::bits_of_pair<half_t>(result, result),
                        bfloats = tilewright::detail::bits_of_pair<bfloat16_t>(result, result);
  return (word | 0x00400000) == quiet || word == halves || word == bfloats;
}

/// Whether n floats are what -ftrivial-auto-var-init=pattern leaves in variables that nothing has set, clang and g++.
/// Sums with them have the same bits.
inline bool are_unset(const float* values, index_t n) {
  for (index_t i = 0; i < n; ++i) {
    const unsigned word = bit_cast<unsigned>(values[i]);
    if (word != 0xffffffff && word != 0xfefefefe) return false;
  }
  return true;
}
inline constexpr const char* unset_registers = " registers that nothing has set: is an initialisation missing?";

/// What check_for_poison looks at besides accumulators.
template <class V>
inline constexpr bool holds_floats = __is_same(V, float);
template <template <class, index_t> class Values, index_t N>
inline constexpr bool holds_floats<Values<float, N>> = N > 0;

/// Refuses to pass on accumulators that a thread has read before their wait: every word of the value is poison.
/// Integers of 4 bytes are not looked at. Neither does it pass on floats that nothing has set.
template <class V>
void check_for_poison(const thread_context& self, const V& value, const char* does, call_site where) {
  if constexpr (holds_floats<V>) {
    if (are_unset(reinterpret_cast<const float*>(&value), index_t(sizeof(V) / sizeof(float))))
      refuse(self, does, where, unset_registers);
  }
  if constexpr (sizeof(V) % 4 == 0 && !(sizeof(V) == 4 && tilewright::detail::Integral<V>)) {
    if (self.latest_wgmma.file == nullptr) return;
    for (unsigned i = 0; i < sizeof(V) / 4; ++i) {
      unsigned word;
      __builtin_memcpy(&word, reinterpret_cast<const char*>(&value) + 4 * i, 4);
      if (!is_accumulator_poison(word)) return;
    }
    refuse(self, does, where,
           " accumulators that it has read before it waited for the matrix instructions that add to them; its latest "
           "one is at (" +
               to_string(self.latest_wgmma) + "): wgmma_wait<0>() is missing");
  }
}

}  // namespace tilewright::emulator
