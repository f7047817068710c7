// SPDX-License-Identifier: MIT
// Registers of a thread in LDS, where no other thread touches them.
#pragma once

#include <tilewright/machine/exec/exec.hpp>

namespace tilewright::detail {

/// Accesses of 16 bytes, and of 4 for the rest; neighbouring threads of a block of Threads are neighbours, so there are
/// no bank conflicts, and no barriers, as nothing is exchanged.
template <index_t Threads, class Values>
struct own_lds {
  static constexpr index_t words = ceil_div(index_t(sizeof(Values)), 4), wide = words / 4, bytes = Threads * words * 4;
  using all_words = array<unsigned, words>;

  TILEWRIGHT_HD static void store(exec::lds_pointer lds, const Values& values) {
    all_words all{};
    __builtin_memcpy(&all, &values, sizeof(Values));
    move(all, [&](index_t place, auto& some) TILEWRIGHT_INLINE_LAMBDA { exec::lds_store(lds, place, some); });
  }
  TILEWRIGHT_HD static Values load(exec::lds_pointer lds) {
    all_words all{};
    move(all, [&](index_t place, auto& some)
                  TILEWRIGHT_INLINE_LAMBDA { some = exec::lds_load<remove_cvref_t<decltype(some)>>(lds, place); });
    Values values;
    __builtin_memcpy(&values, &all, sizeof(Values));
    return values;
  }

  /// Only the last four bytes.
  TILEWRIGHT_HD static void store_last(exec::lds_pointer lds, unsigned value) {
    exec::lds_store(lds, ((words - 1) * Threads + exec::thread_id()) * 4, value);
  }

 private:
  /// f(place, words of an access) for each access.
  template <class F>
  TILEWRIGHT_HD static void move(all_words& all, F f) {
    const index_t thread = exec::thread_id();
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < wide; ++i) {
      array<unsigned, 4> some{all[4 * i], all[4 * i + 1], all[4 * i + 2], all[4 * i + 3]};
      f((i * Threads + thread) * 16, some);
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < 4; ++w) all[4 * i + w] = some[w];
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 4 * wide; w < words; ++w) f((w * Threads + thread) * 4, all[w]);
  }
};

}  // namespace tilewright::detail
