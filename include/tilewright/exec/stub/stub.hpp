// SPDX-License-Identifier: MIT
// The machine's functions for the host half of a HIP or CUDA compilation, which never runs kernels: calls trap.
#pragma once

#include <tilewright/arch/matrix_instruction.hpp>
#include <tilewright/exec/global_buffer.hpp>
#include <tilewright/exec/no_schedule.hpp>
#include <tilewright/numeric/atomic_op.hpp>
#include <tilewright/numeric/vector.hpp>
#include <tilewright/util/array.hpp>
#include <tilewright/util/block_index.hpp>

namespace tilewright::exec::inline stub {

struct lds_pointer {
  TILEWRIGHT_HD friend constexpr lds_pointer operator+(lds_pointer p, index_t) { return p; }
};

TILEWRIGHT_HD index_t thread_id() { __builtin_trap(); }
TILEWRIGHT_HD index_t lane_id() { __builtin_trap(); }
TILEWRIGHT_HD index_t wave_id() { __builtin_trap(); }
TILEWRIGHT_HD block_index block_id() { __builtin_trap(); }
TILEWRIGHT_HD void block_sync() { __builtin_trap(); }
TILEWRIGHT_HD void block_barrier() { __builtin_trap(); }
TILEWRIGHT_HD void wave_sync() { __builtin_trap(); }

template <index_t Bytes>
TILEWRIGHT_HD lds_pointer lds_allocate() {
  __builtin_trap();
}
template <class V>
TILEWRIGHT_HD V lds_load(lds_pointer, index_t) {
  __builtin_trap();
}
template <class T>
TILEWRIGHT_HD vector_t<T, 8 / sizeof(T)> lds_load_transpose(lds_pointer, index_t) {
  __builtin_trap();
}
template <class V>
TILEWRIGHT_HD void lds_store(lds_pointer, index_t, const V&) {
  __builtin_trap();
}

template <class V>
TILEWRIGHT_HD V buffer_load(const global_buffer&, index_t, index_t = 0) {
  __builtin_trap();
}
template <class V>
TILEWRIGHT_HD void buffer_store(const global_buffer&, index_t, const V&) {
  __builtin_trap();
}

template <class V>
TILEWRIGHT_HD V buffer_load(const global_buffer&, long_index_t, index_t = 0) {
  __builtin_trap();
}
template <class V>
TILEWRIGHT_HD void buffer_store(const global_buffer&, long_index_t, const V&) {
  __builtin_trap();
}

template <atomic_op Op, class V>
TILEWRIGHT_HD void buffer_atomic(const global_buffer&, long_index_t, const V&) {
  __builtin_trap();
}
template <atomic_op Op, class V>
TILEWRIGHT_HD void lds_atomic(lds_pointer, index_t, const V&) {
  __builtin_trap();
}

template <index_t Bytes>
TILEWRIGHT_HD void async_load_to_lds(const global_buffer&, index_t, lds_pointer, index_t) {
  __builtin_trap();
}
struct walking_buffer {
  TILEWRIGHT_HD explicit walking_buffer(const global_buffer&) { __builtin_trap(); }
  TILEWRIGHT_HD void advance(long_index_t) { __builtin_trap(); }
};
template <index_t Bytes>
TILEWRIGHT_HD void async_load_wave_to_lds(const walking_buffer&, index_t, lds_pointer) {
  __builtin_trap();
}
template <index_t Outstanding = 0>
TILEWRIGHT_HD void async_wait() {
  __builtin_trap();
}
template <index_t Bytes, bool ReadOnce = false>
TILEWRIGHT_HD void async_load_in_group(const walking_buffer&, index_t, lds_pointer, index_t) {
  __builtin_trap();
}
TILEWRIGHT_HD void async_end_group() { __builtin_trap(); }
template <index_t Outstanding>
TILEWRIGHT_HD void async_wait_groups() {
  __builtin_trap();
}

template <class T>
TILEWRIGHT_HD T shuffle(T, index_t) {
  __builtin_trap();
}
template <index_t Mask, class T>
TILEWRIGHT_HD T shuffle_xor(T) {
  __builtin_trap();
}
TILEWRIGHT_HD bool any(bool) { __builtin_trap(); }
template <arch::matrix_op Op, class Accumulator, class A, class B>
TILEWRIGHT_HD void mma(Accumulator*, const A*, const B*) {
  __builtin_trap();
}
template <arch::matrix_op Op, index_t Nth, class Accumulator, class A, class B>
TILEWRIGHT_HD void mma_part(Accumulator*, const A*, const B*) {
  __builtin_trap();
}
template <bool = false>
TILEWRIGHT_HD array<unsigned, 4> ldmatrix_x4(lds_pointer, index_t) {
  __builtin_trap();
}

}  // namespace tilewright::exec::inline stub
