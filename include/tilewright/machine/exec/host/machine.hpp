// SPDX-License-Identifier: MIT
// The machine's functions on the CPU: they ask the emulator for what they do.
#pragma once

#include <tilewright/core/arch/matrix_element.hpp>
#include <tilewright/core/base/atomic_op.hpp>
#include <tilewright/core/base/vector.hpp>
#include <tilewright/machine/emulator/global/global_history.hpp>
#include <tilewright/machine/emulator/threads/register_poison.hpp>
#include <tilewright/machine/exec/global_buffer.hpp>
#include <tilewright/machine/exec/no_schedule.hpp>

namespace tilewright::exec::inline host {

using emulator::call_scope;

namespace detail {
inline emulator::thread_context& self() { return *emulator::current_thread; }

constexpr bool is_access_width(index_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}
}  // namespace detail

inline index_t thread_id() { return detail::self().thread_id; }
inline index_t lane_id() { return detail::self().lane_id; }
inline index_t wave_id() { return detail::self().wave_id; }
inline block_index block_id() { return detail::self().block; }

inline void block_sync(call_site where = {}) { detail::self().wave->block_sync(detail::self(), true, where); }
inline void block_barrier(call_site where = {}) { detail::self().wave->block_sync(detail::self(), false, where); }
template <index_t Left>
void wait_for_lds() {
  static_assert(0 <= Left && Left < 16, "wait_for_lds: between 0 and 15 LDS accesses may stay in flight");
  detail::self().recent.wait(Left);
}
inline void wave_sync(call_site where = {}) { detail::self().wave->wave_sync(detail::self(), where); }

struct lds_pointer {
  index_t byte = 0;  ///< in the block's LDS

  /// The address `bytes` further.
  friend constexpr lds_pointer operator+(lds_pointer p, index_t bytes) { return {p.byte + bytes}; }
};

template <index_t Bytes>
lds_pointer lds_allocate(call_site where = {}) {
  static_assert(Bytes >= 0);
  detail::self().services->allocate_lds(detail::self(), Bytes, where);
  return {};
}

template <class V>
V lds_load(lds_pointer p, index_t byte_offset, call_site where = {}) {
  constexpr index_t bytes = sizeof(V);
  static_assert(detail::is_access_width(bytes), "lds_load: one LDS instruction reads 1, 2, 4, 8 or 16 bytes");
  emulator::thread_context& self = detail::self();
  self.record(arch::lds_read_op(bytes), p.byte + byte_offset, bytes, where);
  V value;
  __builtin_memcpy(&value, self.lds + p.byte + byte_offset, bytes);
  return value;
}

template <class V>
void lds_store(lds_pointer p, index_t byte_offset, const V& value, call_site where = {}) {
  constexpr index_t bytes = sizeof(V);
  static_assert(detail::is_access_width(bytes), "lds_store: one LDS instruction writes 1, 2, 4, 8 or 16 bytes");
  emulator::thread_context& self = detail::self();
  self.record(arch::lds_write_op(bytes), p.byte + byte_offset, bytes, where);
  emulator::check_for_poison(self, value, "stores", where);
  __builtin_memcpy(self.lds + p.byte + byte_offset, &value, bytes);
}

namespace detail {
/// Where the access is made; nullptr if it is not inside the buffer. `value`: what a store writes.
template <class V>
char* checked_address(const global_buffer& buffer, long_index_t byte_offset, emulator::global_touch how,
                      call_site where, const V* value = nullptr) {
  if (byte_offset < 0 || byte_offset + long_index_t(sizeof(V)) > buffer.bytes) return nullptr;
  char* const address = buffer.base + byte_offset;
  self().last_site = self().site_of(where);
  if (how > emulator::global_touch::copy) self().last_load = nullptr;
  if (reinterpret_cast<__UINTPTR_TYPE__>(address) % sizeof(V) != 0)
    emulator::refuse_global_access(self(), name(how), index_t(sizeof(V)), byte_offset, where);
  if (self().checks_memory) {
    if (value != nullptr && __builtin_memcmp(address, value, sizeof(V)) == 0) how = emulator::global_touch::same_write;
    self().memory->check_global_access(self(), self().number, how, address, sizeof(V), where);
  }
  return address;
}
}  // namespace detail

template <class V>
V buffer_load(const global_buffer& buffer, long_index_t byte_offset, index_t uniform_offset = 0, call_site where = {}) {
  V value{};
  if (const char* const address =
          detail::checked_address<V>(buffer, byte_offset + uniform_offset, emulator::global_touch::read, where)) {
    detail::self().note_load(address, where);
    __builtin_memcpy(&value, address, sizeof(V));
  }
  return value;
}
template <class V>
void buffer_store(const global_buffer& buffer, long_index_t byte_offset, const V& value, call_site where = {}) {
  emulator::check_for_poison(detail::self(), value, "stores", where);
  if (char* const address =
          detail::checked_address<V>(buffer, byte_offset, emulator::global_touch::write, where, &value))
    __builtin_memcpy(address, &value, sizeof(V));
}

template <class T>
T shuffle(T value, index_t source_lane, call_site where = {}) {
  static_assert(sizeof(T) == 4, "shuffle: lanes exchange values of 4 bytes");
  emulator::check_for_poison(detail::self(), value, "shuffles", where);
  return bit_cast<T>(detail::self().wave->shuffle(detail::self(), bit_cast<unsigned>(value), source_lane, where));
}
template <class T>
T broadcast(T value, index_t source_lane, call_site where = {}) {
  return shuffle(value, source_lane, where);
}
template <index_t Mask, class T>
T shuffle_xor(T value, call_site where = {}) {
  static_assert(sizeof(T) == 4, "shuffle_xor: lanes exchange values of 4 bytes");
  static_assert(Mask > 0 && Mask < 64, "shuffle_xor: the mask must be less than the wave's size, and not 0");
  return shuffle(value, lane_id() ^ Mask, where);
}
using lane_mask = unsigned long long;
inline lane_mask ballot(bool condition, call_site where = {}) {
  return detail::self().wave->ballot(detail::self(), condition, where);
}
inline index_t count_lanes(lane_mask mask) { return __builtin_popcountll(mask); }
inline index_t count_lower_lanes(lane_mask mask) { return count_lanes(mask & ((lane_mask{1} << lane_id()) - 1)); }

template <arch::matrix_op Op, class Accumulator, class A, class B>
void mma(Accumulator* c, const A* a, const B* b, call_site where = {}) {
  static_assert(sizeof(A) == arch::element_bytes(Op) && sizeof(B) == sizeof(A),
                "mma: the matrix instruction takes elements of another size");
  static_assert(__is_same(Accumulator, tilewright::detail::accumulator_t<A>),
                "mma: int8_t is added up in int, everything else in float");
  if constexpr (__is_same(Accumulator, float))
    if (emulator::are_unset(c, 1)) emulator::refuse(detail::self(), "adds to", where, emulator::unset_registers);
  detail::self().wave->mma(detail::self(), Op, arch::matrix_element_v<A>, arch::matrix_element_v<B>, c, a, b, where);
}
template <arch::matrix_op Op, index_t Nth, class Accumulator, class A, class B>
void mma_issue(Accumulator* c, const A* a, const B* b, call_site where = {}) {
  mma<Op>(c, a, b, where);
}

template <bool Transposed = false>
array<unsigned, 4> ldmatrix_x4(lds_pointer p, index_t byte_offset, call_site where = {}) {
  return detail::self().wave->ldmatrix_x4(detail::self(), p.byte + byte_offset, Transposed, where);
}
template <bool Transposed = false>
void stmatrix_x4(lds_pointer p, index_t byte_offset, const array<unsigned, 4>& words, call_site where = {}) {
  emulator::check_for_poison(detail::self(), words, "stores", where);
  detail::self().wave->stmatrix_x4(detail::self(), p.byte + byte_offset, words, Transposed, where);
}

template <class T>
vector_t<T, 8 / sizeof(T)> lds_load_transpose(lds_pointer p, index_t byte_offset, call_site where = {}) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2,
                "lds_load_transpose: transposing reads exist for elements of 1 and 2 bytes");
  return bit_cast<vector_t<T, 8 / sizeof(T)>>(
      detail::self().wave->transposing_read(detail::self(), p.byte + byte_offset, index_t(sizeof(T)), where));
}

namespace detail {

/// Atomic on the CPU, too: several of its threads run blocks.
template <atomic_op Op, class V>
void update(char* address, const V& value) {
  auto* const word = reinterpret_cast<unsigned __attribute__((may_alias))*>(address);
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
  constexpr bool is_sum = Op == atomic_op::add && !tilewright::detail::Integral<V>;
  constexpr auto how = is_sum ? emulator::global_touch::float_addition : emulator::global_touch::atomic_update;
  if (char* const address = detail::checked_address<V>(buffer, byte_offset, how, where))
    detail::update<Op>(address, value);
}

/// Its cost is not counted: how LDS serves atomic updates is not known.
template <atomic_op Op, class V>
void lds_atomic(lds_pointer p, index_t byte_offset, const V& value, call_site where = {}) {
  static_assert(tilewright::detail::is_atomic_v<V>,
                "lds_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t");
  emulator::thread_context& self = detail::self();
  const index_t address = p.byte + byte_offset;
  self.check_address(arch::lds_op::write_b32, address, 4, where);
  if (self.checks_lds)
    self.memory->check_lds_access(self, emulator::lds_touch::atomic_update, address, 4, self.site_of(where));
  detail::update<Op>(self.lds + address, value);
}

inline bool is_last_arrival(unsigned* counter, unsigned n, lds_pointer flag, call_site where = {}) {
  block_sync(where);
  if (thread_id() == 0) {  // the barriers order the others
    const emulator::thread_context& self = detail::self();
    const global_buffer memory = make_global_buffer(counter, sizeof(*counter));
    detail::checked_address<unsigned>(memory, 0, emulator::global_touch::atomic_update, where);
    self.memory->release(self, counter, emulator::memory_scope::gpu);
    const unsigned before = __atomic_fetch_add(counter, 1u, __ATOMIC_ACQ_REL);
    self.memory->acquire(self, counter, emulator::memory_scope::gpu, where);
    if (before + 1 == n) __atomic_store_n(counter, 0u, __ATOMIC_RELAXED);
    lds_store(flag, 0, before, where);
  }
  block_sync(where);
  return lds_load<unsigned>(flag, 0, where) + 1 == n;
}

}  // namespace tilewright::exec::inline host
