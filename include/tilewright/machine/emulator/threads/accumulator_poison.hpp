// SPDX-License-Identifier: MIT
// The NaN that registers hold while wgmma adds to them, found where a thread passes on what it has read too early.
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

/// Refuses to pass on accumulators that a thread has read before their wait: every word of the value is poison.
/// Integers of 4 bytes are not looked at.
template <class V>
void check_for_poison(const thread_context& self, const V& value, const char* does, call_site where) {
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
