// SPDX-License-Identifier: MIT
// Registers of a thread in LDS, where no other thread touches them.
#pragma once

#include <tilewright/exec/exec.hpp>

namespace tilewright::detail {

/// Accesses of 16 bytes, or 4; neighbouring threads of a block of Threads are neighbours, so there are no bank
/// conflicts, and no barriers, as nothing is exchanged.
template <index_t Threads, class Values>
struct own_lds {
  static constexpr index_t access = sizeof(Values) % 16 == 0 ? 16 : 4, bytes = Threads * index_t(sizeof(Values)),
                           accesses = index_t(sizeof(Values)) / access;
  using word = array<unsigned, access / 4>;
  using words = array<word, accesses>;

  TILEWRIGHT_HD static index_t place(index_t i) { return (i * Threads + exec::thread_id()) * access; }
  TILEWRIGHT_HD static void store(exec::lds_pointer lds, const Values& values) {
    const words bits = bit_cast<words>(values);
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < accesses; ++i) exec::lds_store(lds, place(i), bits[i]);
  }
  TILEWRIGHT_HD static Values load(exec::lds_pointer lds) {
    words bits;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < accesses; ++i) bits[i] = exec::lds_load<word>(lds, place(i));
    return bit_cast<Values>(bits);
  }
};

}  // namespace tilewright::detail
