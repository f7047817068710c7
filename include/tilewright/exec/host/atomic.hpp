// SPDX-License-Identifier: MIT
// Atomic updates of global memory and LDS, on the CPU.
#pragma once

#include <tilewright/exec/host/machine.hpp>
#include <tilewright/numeric/atomic_op.hpp>

namespace tilewright::exec::inline host {

namespace detail {

/// Atomic on the CPU, too: several of its threads run blocks.
template <atomic_op Op, class V>
void update(char* place, const V& value) {
  auto* const word = reinterpret_cast<unsigned __attribute__((may_alias))*>(place);
  unsigned old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, tilewright::detail::apply_atomic<Op>(old, value), true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

}  // namespace detail

template <atomic_op Op, class V>
void buffer_atomic(const global_buffer& buffer, long_index_t byte_offset, const V& value, call_site where = {}) {
  static_assert(tilewright::detail::is_atomic_v<V>,
                "buffer_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t");
  if (char* const place = detail::place_in<V>(buffer, byte_offset, emulator::global_touch::atomic_update, where))
    detail::update<Op>(place, value);
}

/// Its cost is not counted: how LDS serves atomic updates is not known.
template <atomic_op Op, class V>
void lds_atomic(lds_pointer p, index_t byte_offset, const V& value, call_site where = {}) {
  static_assert(tilewright::detail::is_atomic_v<V>,
                "lds_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t");
  emulator::thread_context& self = detail::self();
  const index_t address = p.byte + byte_offset;
  self.check_place(arch::lds_op::write_b32, address, 4, where);
  if (self.checks_lds)
    self.memory->check_lds_access(self, emulator::lds_touch::atomic_update, address, 4, self.place_of(where));
  detail::update<Op>(self.lds + address, value);
}

}  // namespace tilewright::exec::inline host
