// SPDX-License-Identifier: MIT
// The machine's functions for the host half of a HIP or CUDA compilation, which never runs kernels: calls trap.
#pragma once

#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/core/arch/tensor_descriptor.hpp>
#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/atomic_op.hpp>
#include <tilewright/core/base/block_index.hpp>
#include <tilewright/core/base/vector.hpp>
#include <tilewright/machine/exec/global_buffer.hpp>
#include <tilewright/machine/exec/no_schedule.hpp>

namespace tilewright::exec::inline stub {

// A function that never runs.
#define TILEWRIGHT_STUB(...) \
  TILEWRIGHT_HD __VA_ARGS__ { __builtin_trap(); }

struct lds_pointer {
  /// The address `bytes` further.
  TILEWRIGHT_HD friend constexpr lds_pointer operator+(lds_pointer p, index_t) { return p; }
};

TILEWRIGHT_STUB(index_t thread_id())
TILEWRIGHT_STUB(index_t lane_id())
TILEWRIGHT_STUB(index_t wave_id())
TILEWRIGHT_STUB(block_index block_id())
TILEWRIGHT_STUB(void block_sync())
TILEWRIGHT_STUB(void block_barrier())
TILEWRIGHT_STUB(void wave_sync())

template <index_t Bytes>
TILEWRIGHT_STUB(lds_pointer lds_allocate())
template <class V>
TILEWRIGHT_STUB(V lds_load(lds_pointer, index_t))
template <class T>
TILEWRIGHT_STUB(vector_t<T, 8 / sizeof(T)> lds_load_transpose(lds_pointer, index_t))
template <class V>
TILEWRIGHT_STUB(void lds_store(lds_pointer, index_t, const V&))

template <class V>
TILEWRIGHT_STUB(V buffer_load(const global_buffer&, long_index_t, index_t = 0))
template <class V>
TILEWRIGHT_STUB(void buffer_store(const global_buffer&, long_index_t, const V&))

template <atomic_op Op, class V>
TILEWRIGHT_STUB(void buffer_atomic(const global_buffer&, long_index_t, const V&))
template <atomic_op Op, class V>
TILEWRIGHT_STUB(void lds_atomic(lds_pointer, index_t, const V&))
TILEWRIGHT_HD bool is_last_arrival(unsigned*, unsigned, lds_pointer) {
  __builtin_trap();
}

template <index_t Bytes>
TILEWRIGHT_STUB(void async_load_to_lds(const global_buffer&, index_t, lds_pointer, index_t))
struct walking_buffer {
  TILEWRIGHT_HD explicit walking_buffer(const global_buffer&) { __builtin_trap(); }
  TILEWRIGHT_HD void advance(long_index_t) { __builtin_trap(); }
};
template <index_t Bytes>
TILEWRIGHT_STUB(void async_load_wave_to_lds(const walking_buffer&, index_t, lds_pointer))
TILEWRIGHT_STUB(void load_tensor_tile(const arch::tensor_descriptor&, lds_pointer)) template <index_t Outstanding>
TILEWRIGHT_STUB(void wait_for_tensor_tiles())
template <index_t Outstanding = 0>
TILEWRIGHT_STUB(void async_wait())
template <index_t Bytes, bool ReadOnce = false>
TILEWRIGHT_STUB(void async_load_in_group(const walking_buffer&, index_t, lds_pointer, index_t))
TILEWRIGHT_HD void async_end_group() {
  __builtin_trap();
}
template <index_t Outstanding>
TILEWRIGHT_STUB(void async_wait_groups())

template <class T>
TILEWRIGHT_STUB(T shuffle(T, index_t))
template <class T>
TILEWRIGHT_STUB(T broadcast(T, index_t))
template <index_t Mask, class T>
TILEWRIGHT_STUB(T shuffle_xor(T))
using lane_mask = unsigned long long;
TILEWRIGHT_STUB(lane_mask ballot(bool))
TILEWRIGHT_STUB(index_t count_lanes(lane_mask))
TILEWRIGHT_STUB(index_t count_lower_lanes(lane_mask))
template <arch::matrix_op Op, class Accumulator, class A, class B>
TILEWRIGHT_STUB(void mma(Accumulator*, const A*, const B*))
template <arch::matrix_op Op, index_t Nth, class Accumulator, class A, class B>
TILEWRIGHT_STUB(void mma_issue(Accumulator*, const A*, const B*))
template <arch::matrix_op Op, index_t Byte, arch::scaled_element AElement, arch::scaled_element BElement>
TILEWRIGHT_STUB(void mma_scaled(float*, const unsigned*, const unsigned*, unsigned, unsigned))
template <bool = false>
TILEWRIGHT_STUB(array<unsigned, 4> ldmatrix_x4(lds_pointer, index_t))

#undef TILEWRIGHT_STUB

}  // namespace tilewright::exec::inline stub
