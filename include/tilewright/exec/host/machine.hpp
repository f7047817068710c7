// SPDX-License-Identifier: MIT
// The machine's functions for kernels that run on the CPU. launch.hpp runs such kernels.
#pragma once

#include <tilewright/arch/matrix_element.hpp>
#include <tilewright/emulator/fault.hpp>
#include <tilewright/emulator/threads/thread_context.hpp>
#include <tilewright/exec/no_schedule.hpp>
#include <tilewright/numeric/vector.hpp>

namespace tilewright::exec {
inline namespace host {

using emulator::call_scope;

inline index_t thread_id() { return emulator::current_thread->thread_id; }
inline index_t lane_id() { return emulator::current_thread->lane_id; }
inline index_t wave_id() { return emulator::current_thread->wave_id; }
inline block_index block_id() { return emulator::current_thread->block; }

/// Waits for every thread of the block; what they wrote to LDS before is visible to all afterwards.
inline void block_sync(call_site where = {}) {
  emulator::current_thread->services->block_sync(*emulator::current_thread, where);
}

/// The same here; on AMD GPUs it does not wait for what the calling wave has under way.
inline void block_barrier(call_site where = {}) { block_sync(where); }

/// Waits for every lane of the wave; what they wrote to LDS before is visible to the wave's lanes afterwards.
inline void wave_sync(call_site where = {}) {
  emulator::current_thread->services->wave_sync(*emulator::current_thread, where);
}

/// A place in the block's LDS.
struct lds_pointer {
  index_t byte = 0;

  friend constexpr lds_pointer operator+(lds_pointer p, index_t bytes) { return {p.byte + bytes}; }
};

/// The block's LDS, at least Bytes of it. Every thread calls it once.
template <index_t Bytes>
lds_pointer lds_allocate() {
  static_assert(Bytes >= 0);
  emulator::current_thread->services->allocate_lds(*emulator::current_thread, Bytes);
  return {};
}

namespace detail {
constexpr bool is_lds_width(index_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}
}  // namespace detail

/// Reads a value of 1, 2, 4, 8 or 16 bytes, aligned to its size, with one instruction.
template <class V>
V lds_load(lds_pointer p, index_t byte_offset, call_site where = {}) {
  constexpr index_t bytes = sizeof(V);
  static_assert(detail::is_lds_width(bytes), "lds_load: one LDS instruction reads 1, 2, 4, 8 or 16 bytes");
  emulator::thread_context& self = *emulator::current_thread;
  self.record(arch::lds_read_op(bytes), p.byte + byte_offset, bytes, where);
  V value;
  __builtin_memcpy(&value, self.lds + p.byte + byte_offset, bytes);
  return value;
}

/// Writes a value of 1, 2, 4, 8 or 16 bytes, aligned to its size, with one instruction.
template <class V>
void lds_store(lds_pointer p, index_t byte_offset, const V& value, call_site where = {}) {
  constexpr index_t bytes = sizeof(V);
  static_assert(detail::is_lds_width(bytes), "lds_store: one LDS instruction writes 1, 2, 4, 8 or 16 bytes");
  emulator::thread_context& self = *emulator::current_thread;
  self.record(arch::lds_write_op(bytes), p.byte + byte_offset, bytes, where);
  __builtin_memcpy(self.lds + p.byte + byte_offset, &value, bytes);
}

/// Global memory with bounds: a load that is not wholly inside gives zeros, such a store is dropped.
struct global_buffer {
  char* base = nullptr;
  long_index_t bytes = 0;

  constexpr bool contains(long_index_t byte_offset, index_t access_bytes) const {
    return byte_offset >= 0 && byte_offset + access_bytes <= bytes;
  }
};

/// The buffer of `bytes` bytes from `base` on; none if there are fewer than 0.
inline global_buffer make_global_buffer(const void* base, long_index_t bytes) {
  return {static_cast<char*>(const_cast<void*>(base)), bytes};
}

/// The rest of a buffer after its first bytes.
inline global_buffer advance(global_buffer buffer, long_index_t bytes) {
  return {buffer.base + bytes, buffer.bytes - bytes};
}

/// 1, 2, 4, 8 or 16 bytes; zeros when they are not inside the buffer. `uniform_offset` is a second part of the offset.
/// With a 64-bit offset, lanes may be further than 2^31 bytes from each other.
template <class V>
V buffer_load(const global_buffer& buffer, long_index_t byte_offset, index_t uniform_offset = 0) {
  V value{};
  byte_offset += uniform_offset;
  if (buffer.contains(byte_offset, sizeof(V))) __builtin_memcpy(&value, buffer.base + byte_offset, sizeof(V));
  return value;
}
template <class V>
V buffer_load(const global_buffer& buffer, index_t byte_offset, index_t uniform_offset = 0) {
  return buffer_load<V>(buffer, long_index_t(byte_offset), uniform_offset);
}

/// Likewise; what is not inside the buffer is dropped.
template <class V>
void buffer_store(const global_buffer& buffer, long_index_t byte_offset, const V& value) {
  if (buffer.contains(byte_offset, sizeof(V))) __builtin_memcpy(buffer.base + byte_offset, &value, sizeof(V));
}
template <class V>
void buffer_store(const global_buffer& buffer, index_t byte_offset, const V& value) {
  buffer_store(buffer, long_index_t(byte_offset), value);
}

/// The value that source_lane (modulo the wave) passes. Every lane of the wave calls it.
template <class T>
T shuffle(T value, index_t source_lane, call_site where = {}) {
  static_assert(sizeof(T) == 4, "shuffle: lanes exchange values of 4 bytes");
  emulator::thread_context& self = *emulator::current_thread;
  return bit_cast<T>(self.services->shuffle(self, bit_cast<unsigned>(value), source_lane, where));
}

/// c(m, n) += sum over k of a(m, k) b(n, k) by one wave; 8-bit floating-point numbers may be mixed. c, a and b point to
/// the registers that describe(Op) lists.
template <arch::matrix_op Op, class Accumulator, class A, class B>
void mma(Accumulator* c, const A* a, const B* b, call_site where = {}) {
  static_assert(sizeof(A) == arch::element_bytes(Op) && sizeof(B) == sizeof(A),
                "mma: the matrix instruction takes elements of another size");
  static_assert(__is_same(Accumulator, accumulator_t<A>), "mma: int8_t is added up in int, everything else in float");
  emulator::thread_context& self = *emulator::current_thread;
  self.services->mma(self, Op, matrix_element_v<A>, matrix_element_v<B>, c, a, b, where);
}

template <arch::matrix_op Op, index_t I, class Accumulator, class A, class B>
void mma_part(Accumulator* c, const A* a, const B* b) {
  mma<Op>(c, a, b);
}

/// Four 8x8 matrices of 16-bit elements (NVIDIA targets): lane l gives the address of row l % 8 of matrix l / 8, and
/// receives in word j the elements (row l / 4, columns 2 (l % 4) and the next) of matrix j; Transposed:
/// (rows 2 (l % 4) and the next, column l / 4).
template <bool Transposed = false>
array<unsigned, 4> ldmatrix_x4(lds_pointer p, index_t byte_offset, call_site where = {}) {
  return emulator::current_thread->services->ldmatrix_x4(*emulator::current_thread, p.byte + byte_offset, Transposed,
                                                         where);
}

/// The reverse: lane l gives the address of row l % 8 of matrix l / 8, and word j holds the lane's elements of matrix
/// j. Since sm_90.
inline void stmatrix_x4(lds_pointer p, index_t byte_offset, const array<unsigned, 4>& words, call_site where = {}) {
  emulator::current_thread->services->stmatrix_x4(*emulator::current_thread, p.byte + byte_offset, words, where);
}

/// Two floats rounded to T, the first in the lower half.
template <class T>
unsigned round_pair(float low, float high) {
  static_assert(sizeof(T) == 2, "round_pair: the result is half_t or bfloat16_t");
  struct two {
    T low, high;
  };
  return bit_cast<unsigned>(two{type_convert<T>(low), type_convert<T>(high)});
}

/// One transposing read of 8 bytes (gfx950: ds_read_b64_tr_b16 or _tr_b8, by the size of T). Each lane addresses 8
/// contiguous bytes, 8-byte aligned. In each group of 16 lanes these are a matrix of 8 / sizeof(T) rows and 16 columns,
/// row after row; lane i of the group receives column i. Every lane of the wave calls it.
template <class T>
vector_t<T, 8 / sizeof(T)> lds_load_transpose(lds_pointer p, index_t byte_offset, call_site where = {}) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2,
                "lds_load_transpose: transposing reads exist for elements of 1 and 2 bytes");
  emulator::thread_context& self = *emulator::current_thread;
  return bit_cast<vector_t<T, 8 / sizeof(T)>>(
      self.services->transposing_read(self, p.byte + byte_offset, index_t(sizeof(T)), where));
}

}  // namespace host
}  // namespace tilewright::exec
