// SPDX-License-Identifier: MIT
// Atomic updates of global memory and LDS (shared memory) on NVIDIA GPUs.
#pragma once

#include <tilewright/core/base/atomic_op.hpp>
#include <tilewright/machine/exec/nvptx/machine.hpp>

namespace tilewright::exec::inline nvptx {

namespace detail {

/// The update of a place in memory; relaxed.
template <atomic_op Op, class V>
TILEWRIGHT_HD void update(char* address, const V& value) {
  if constexpr (Op == atomic_op::add && !tilewright::detail::is_pair_v<V>) {
    atomicAdd(reinterpret_cast<V*>(address), value);
  } else if constexpr (Op == atomic_op::max && __is_same(V, float)) {
    // The bits of floats are in order as integers where they are positive,
    // in reverse order as unsigned ones where they are negative.
    const int bits = bit_cast<int>(value);
    if (bits >= 0) {
      atomicMax(reinterpret_cast<int*>(address), bits);
    } else {
      atomicMin(reinterpret_cast<unsigned*>(address), unsigned(bits));
    }
  } else if constexpr (Op == atomic_op::max && !tilewright::detail::is_pair_v<V>) {
    atomicMax(reinterpret_cast<V*>(address), value);
  } else if constexpr (Op == atomic_op::add && __is_same(V, vector_t<half_t, 2>)) {
    unsigned old;
    asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(address), "r"(bit_cast<unsigned>(value))
                 : "memory");
  } else {
#if __CUDA_ARCH__ >= 900
    if constexpr (Op == atomic_op::add) {
      unsigned old;
      asm volatile("atom.add.noftz.bf16x2 %0, [%1], %2;"
                   : "=r"(old)
                   : "l"(address), "r"(bit_cast<unsigned>(value))
                   : "memory");
      return;
    }
#endif
    unsigned* const word = reinterpret_cast<unsigned*>(address);
    unsigned old = *word, expected;
    do {
      expected = old;
      old = atomicCAS(word, expected, tilewright::detail::apply_atomic<Op>(expected, value));
    } while (old != expected);
  }
}

}  // namespace detail

template <atomic_op Op, class V>
TILEWRIGHT_HD void buffer_atomic(const global_buffer& buffer, long_index_t byte_offset, const V& value) {
  static_assert(tilewright::detail::is_atomic_v<V>,
                "buffer_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t");
  if (!detail::is_inside<4>(buffer, byte_offset)) return;
  detail::update<Op>(buffer.base + byte_offset, value);
}

template <atomic_op Op, class V>
TILEWRIGHT_HD void lds_atomic(lds_pointer p, index_t byte_offset, const V& value) {
  static_assert(tilewright::detail::is_atomic_v<V>,
                "lds_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t");
  detail::update<Op>(p.address + byte_offset, value);
}

TILEWRIGHT_HD bool is_last_arrival(unsigned* counter, unsigned n, lds_pointer flag) {
  __threadfence();
  block_sync();
  if (thread_id() == 0) {
    const unsigned before = atomicAdd(counter, 1u);
    lds_store(flag, 0, before);
    if (before + 1 == n) *counter = 0;
  }
  block_sync();
  const bool is_last = lds_load<unsigned>(flag, 0) + 1 == n;
  if (is_last) __threadfence();
  return is_last;
}

}  // namespace tilewright::exec::inline nvptx
