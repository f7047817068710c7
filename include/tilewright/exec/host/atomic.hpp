// SPDX-License-Identifier: MIT
// Atomic updates of global memory and LDS for kernels that run on the CPU.
#pragma once

#include <tilewright/exec/host/machine.hpp>
#include <tilewright/numeric/atomic_op.hpp>

#include <string>

namespace tilewright::exec {
inline namespace host {

namespace detail {

/// Blocks run on several threads of the CPU, so this is atomic there, too. The place need only be aligned to 4 bytes.
template <atomic_op Op, class V>
void update(char* place, const V& value) {
  auto* const word = reinterpret_cast<unsigned __attribute__((may_alias))*>(place);
  unsigned old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, tilewright::detail::apply_atomic<Op>(old, value), true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

}  // namespace detail

/// Updates 4 bytes atomically, or nothing when they are not inside the buffer: int, unsigned, float, or a pair of
/// half_t or bfloat16_t. Floats must not be NaN where the largest is kept.
template <atomic_op Op, class V>
void buffer_atomic(const global_buffer& buffer, long_index_t byte_offset, const V& value) {
  static_assert(tilewright::detail::is_atomic_v<V>,
                "buffer_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t");
  if (!buffer.contains(byte_offset, 4)) return;
  char* const place = buffer.base + byte_offset;
  if (reinterpret_cast<__UINTPTR_TYPE__>(place) % 4 != 0) {
    throw emulator::fault("thread " + std::to_string(thread_id()) + " of block " + emulator::to_string(block_id()) +
                          " updates global memory atomically at byte " + std::to_string(byte_offset) +
                          " of a buffer, which is not a multiple of 4");
  }
  detail::update<Op>(place, value);
}

/// The same in LDS. Its cost is not counted: nothing is known of how LDS serves atomic updates.
template <atomic_op Op, class V>
void lds_atomic(lds_pointer p, index_t byte_offset, const V& value, call_site where = {}) {
  static_assert(tilewright::detail::is_atomic_v<V>,
                "lds_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t");
  emulator::thread_context& self = *emulator::current_thread;
  const index_t address = p.byte + byte_offset;
  self.check_place(arch::lds_op::write_b32, address, 4, where);
  if (self.checks_lds)
    self.services->check_lds_access(self, emulator::lds_touch::atomic_update, address, 4, self.place_of(where));
  detail::update<Op>(self.lds + address, value);
}

}  // namespace host
}  // namespace tilewright::exec
