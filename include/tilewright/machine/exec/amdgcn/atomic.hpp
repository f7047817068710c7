// SPDX-License-Identifier: MIT
// Atomic updates of global memory and LDS on AMD GPUs.
#pragma once

#include <tilewright/core/base/atomic_op.hpp>
#include <tilewright/machine/exec/amdgcn/machine.hpp>

namespace tilewright::exec::inline amdgcn {

namespace detail {

typedef _Float16 half_pair __attribute__((ext_vector_type(2)));
typedef short bfloat16_pair __attribute__((ext_vector_type(2)));

// Adds a pair of elements by a builtin where the target has it, and returns.
#define TILEWRIGHT_ADD_PAIR(builtin, space, element, pair)                                                   \
  if constexpr (Op == atomic_op::add && __is_same(V, vector_t<element, 2>) && Space == space) {              \
    __builtin_amdgcn_##builtin((__attribute__((address_space(space))) pair*)address, bit_cast<pair>(value)); \
    return;                                                                                                  \
  }

/// The update of a pair of 16-bit numbers in global memory (Space 1) or LDS (Space 3); relaxed.
template <atomic_op Op, int Space, class V>
TILEWRIGHT_HD void update_pair(__attribute__((address_space(Space))) char* address, V value) {
#if __has_builtin(__builtin_amdgcn_global_atomic_fadd_v2f16)
  TILEWRIGHT_ADD_PAIR(global_atomic_fadd_v2f16, 1, half_t, half_pair)
#endif
#if __has_builtin(__builtin_amdgcn_global_atomic_fadd_v2bf16)
  TILEWRIGHT_ADD_PAIR(global_atomic_fadd_v2bf16, 1, bfloat16_t, bfloat16_pair)
#endif
#if __has_builtin(__builtin_amdgcn_ds_atomic_fadd_v2f16)
  TILEWRIGHT_ADD_PAIR(ds_atomic_fadd_v2f16, 3, half_t, half_pair)
#endif
#if __has_builtin(__builtin_amdgcn_ds_atomic_fadd_v2bf16)
  TILEWRIGHT_ADD_PAIR(ds_atomic_fadd_v2bf16, 3, bfloat16_t, bfloat16_pair)
#endif
#undef TILEWRIGHT_ADD_PAIR
  constexpr int scope = Space == 1 ? __MEMORY_SCOPE_DEVICE : __MEMORY_SCOPE_WRKGRP;
  auto* const word = (__attribute__((address_space(Space))) unsigned*)address;
  unsigned old = __scoped_atomic_load_n(word, __ATOMIC_RELAXED, scope);
  while (!__scoped_atomic_compare_exchange_n(word, &old, tilewright::detail::apply_atomic<Op>(old, value), true,
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope)) {
  }
}

/// The update of a place in global memory (Space 1) or LDS (Space 3); relaxed.
template <atomic_op Op, int Space, class V>
TILEWRIGHT_HD void update(__attribute__((address_space(Space))) char* address, V value) {
  constexpr int scope = Space == 1 ? __MEMORY_SCOPE_DEVICE : __MEMORY_SCOPE_WRKGRP;
  auto* const word = (__attribute__((address_space(Space))) unsigned*)address;
  auto* const integer = (__attribute__((address_space(Space))) int*)address;
  if constexpr (Op == atomic_op::add && (__is_same(V, int) || __is_same(V, unsigned))) {
    __scoped_atomic_fetch_add(word, unsigned(value), __ATOMIC_RELAXED, scope);
  } else if constexpr (Op == atomic_op::max && __is_same(V, int)) {
    __scoped_atomic_fetch_max(integer, value, __ATOMIC_RELAXED, scope);
  } else if constexpr (Op == atomic_op::max && __is_same(V, unsigned)) {
    __scoped_atomic_fetch_max(word, value, __ATOMIC_RELAXED, scope);
  } else if constexpr (Op == atomic_op::max && __is_same(V, float)) {
    // The bits of floats are in order as integers where they are positive,
    // in reverse order as unsigned ones where they are negative.
    const int bits = bit_cast<int>(value);
    if (bits >= 0) {
      __scoped_atomic_fetch_max(integer, bits, __ATOMIC_RELAXED, scope);
    } else {
      __scoped_atomic_fetch_min(word, unsigned(bits), __ATOMIC_RELAXED, scope);
    }
  } else if constexpr (__is_same(V, float)) {
#if __has_builtin(__builtin_amdgcn_global_atomic_fadd_f32)
    if constexpr (Space == 1) {
      __builtin_amdgcn_global_atomic_fadd_f32((__attribute__((address_space(1))) float*)address, value);
      return;
    }
#endif
    __scoped_atomic_fetch_add((__attribute__((address_space(Space))) float*)address, value, __ATOMIC_RELAXED, scope);
  } else {
    update_pair<Op, Space>(address, value);
  }
}

}  // namespace detail

template <atomic_op Op, class V>
TILEWRIGHT_HD void buffer_atomic(const global_buffer& buffer, long_index_t byte_offset, const V& value) {
  static_assert(tilewright::detail::is_atomic_v<V>,
                "buffer_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t");
  if (byte_offset < 0 || long_index_t(byte_offset) + 4 > buffer.bytes) return;
  detail::update<Op, 1>((__attribute__((address_space(1))) char*)(buffer.base + byte_offset), value);
}

template <atomic_op Op, class V>
TILEWRIGHT_HD void lds_atomic(lds_pointer p, index_t byte_offset, const V& value) {
  static_assert(tilewright::detail::is_atomic_v<V>,
                "lds_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t");
  detail::update<Op, 3>(p.address + byte_offset, value);
}

/// Dies have an L2 each: the fences write it back, and make it forget what others have written.
TILEWRIGHT_HD bool is_last_arrival(unsigned* counter, unsigned n, lds_pointer flag) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  block_sync();
  if (thread_id() == 0) {
    const unsigned before = __scoped_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    lds_store(flag, 0, before);
    if (before + 1 == n) __scoped_atomic_store_n(counter, 0u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
  block_sync();
  const bool is_last = lds_load<unsigned>(flag, 0) + 1 == n;
  if (is_last) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  return is_last;
}

}  // namespace tilewright::exec::inline amdgcn
