// SPDX-License-Identifier: MIT
// The machine's functions for kernels, and their contract: the same functions on AMD and NVIDIA GPUs and on the CPU.
#pragma once

// Implementations: amdgcn/, nvptx/, host/ (on the emulator) and stub/ (for the host half of a HIP or CUDA compilation,
// which parses kernels but never runs them). Their comments say only what is particular there. Offsets are in bytes. V
// is any type of 1, 2, 4, 8 or 16 bytes. A [wave] function must be called by every lane of the wave, a [block] function
// by every thread of the block. math.hpp adds functions of floats, hopper.hpp what only sm_90 has; docs/machine.md is
// the page about all of them.
//
// Threads
//   thread_id(), lane_id(), wave_id()  the thread in its block, the lane in its wave, the wave in its block (uniform)
//   block_id()                         the block in the grid, as {x, y, z}
//   block_sync()                       [block] barrier; makes earlier LDS accesses visible; loads from global memory
//                                      stay in flight
//   block_barrier()                    [block] barrier that does not wait for the wave's own LDS accesses; call
//                                      wait_for_lds first for those that other waves rely on
//   wave_sync()                        [wave] orders the LDS accesses of the wave's lanes
//   shuffle(value, lane)               [wave] the 4-byte value of another lane, modulo the wave size
//   shuffle_xor<Mask>(value)           [wave] the value of lane lane_id() ^ Mask, 0 < Mask < wave size
//   lane_mask                          an unsigned integer with a bit for each lane of the wave
//   ballot(condition)                  [wave] the lanes in which it holds; the compiler knows that this is uniform
//   count_lanes(mask), count_lower_lanes(mask)  how many lanes a mask has; how many of them before the calling lane
//   any(condition)                     [wave] whether it holds in any lane
//   equal_lanes<Bits>(value)           [wave] the lanes whose lowest Bits of a 4-byte value are those of the caller
//
// LDS
//   lds_pointer                        a place in the block's LDS; p + bytes
//   lds_allocate<Bytes>()              [block] the block's LDS, at least Bytes; once per kernel
//   lds_load<V>(p, offset)             one load, aligned to sizeof(V)
//   lds_store(p, offset, value)        one store, aligned to sizeof(V)
//   lds_atomic<op>(p, offset, value)   relaxed update of 4 bytes by atomic_op add or max: int, unsigned, float, a pair
//                                      of half_t or bfloat16_t; max of NaN is not specified
//   lds_load_transpose<T>(p, offset)   [wave] gfx950, elements of 1 or 2 bytes: each lane addresses 8 bytes, 8-byte
//                                      aligned; those of 16 lanes are a matrix of 8 / sizeof(T) rows and 16 columns, of
//                                      which lane i receives column i
//   ldmatrix_x4<Transposed>(p, offset) [wave] NVIDIA: four 8 x 8 matrices of 16-bit elements. Lane l addresses row
//                                      l % 8 of matrix l / 8; its word j holds elements (l / 4, 2 (l % 4)) and the next
//                                      one of matrix j, or of its transpose
//
// Global memory
//   global_buffer                      memory of known size; uniform over a wave
//   make_global_buffer(base, bytes)    empty if bytes < 0
//   advance(buffer, bytes)             the same memory without its first bytes
//   buffer_load<V>(buffer, offset, uniform = 0)  V at offset + uniform, aligned to its size; zeros unless all of it is
//                                      inside. `uniform` >= 0 is the same for the wave and does not bring a negative
//                                      offset inside
//   buffer_store(buffer, offset, value)  dropped unless all of the value is inside
//   masked_load<V>(buffer, offset, exists), masked_store(buffer, offset, value, exists)  the same for 32-bit offsets,
//                                      where `exists` says whether the value is inside
//   buffer_atomic<op>(buffer, offset, value)  as lds_atomic; dropped outside. Offsets of 32 bits are checked by
//                                      hardware on AMD GPUs; with offsets of 64 bits lanes may be 2^31 bytes apart
//
// Asynchronous copies from global memory to LDS
//   async_load_to_lds<Bytes>(buffer, offset, p, lds_offset)  [wave] starts a copy; zeros outside. Where the hardware
//                                      copies without registers, AMD GPUs put lane l at lane 0's place + l * Bytes;
//                                      elsewhere a load and a store
//   masked_load_to_lds<Bytes>(buffer, offset, p, lds_offset, exists)  [wave] the same; zeros unless `exists`
//   async_wait<n = 0>()                until at most n of the thread's latest copies are in flight; completed ones are
//                                      visible to the thread, and to the block after a barrier
//   walking_buffer                     a cursor: advance(bytes) moves it; what is outside the tensor must be given as
//                                      out_of_bounds_offset
//   async_load_in_group<Bytes, ReadOnce = false>(walking_buffer, offset, p, lds_offset)  [wave] the same, in the open
//                                      group. ReadOnce: a hint: these bytes are not read again soon, but those
//                                      around them
//   async_end_group()                  closes the group, which may be empty
//   async_wait_groups<n>()             until at most n groups are in flight (AMD GPUs wait for all copies)
//   async_load_wave_to_lds<Bytes>(walking_buffer, offset, first_lane)  [wave] AMD GPUs that copy without registers:
//                                      lane l's bytes go to first_lane + l * Bytes
//
// Matrices
//   mma<op>(c, a, b)                   [wave] c(m, n) += sum over k of a(m, k) b(n, k), in registers as
//                                      arch::describe(op) lists them. 8-bit floats may be mixed
//   mma_parts<op>, mma_part<op, i>(c, a, b)  the same, instruction by instruction
//
// Instruction scheduling: affects speed only, except wait_for_lds; empty where the machine has no such control
//   schedule_group<kind, n>()          the next n instructions of a kind go here
//   schedule_fence()                   no instruction moves across
//   wait_for_lds<n>(), wait_for_global_loads<n = 0>()  until at most n of the wave's accesses are in flight
//   set_priority<n>()                  0 (initial) to 3: waves of higher priority on a SIMD issue first
//   forget_origin(value)               the value, opaque to the optimiser: nothing derived from it is hoisted
//   keep_in_accumulation_registers<n>(registers)  n accumulators of 16 registers stay in AMD's AGPRs
#include <tilewright/config/config.hpp>
#include <tilewright/exec/math.hpp>
#include <tilewright/util/call_site.hpp>
#include <tilewright/util/math.hpp>  // in every pass: nvcc registers plus, max and min, which device code may use

#if TILEWRIGHT_AMDGCN_PASS
#include <tilewright/exec/amdgcn/async_copy.hpp>
#include <tilewright/exec/amdgcn/atomic.hpp>
#include <tilewright/exec/amdgcn/buffer.hpp>
#include <tilewright/exec/amdgcn/cross_lane.hpp>
#include <tilewright/exec/amdgcn/lds.hpp>
#include <tilewright/exec/amdgcn/matrix.hpp>
#include <tilewright/exec/amdgcn/schedule.hpp>
#elif TILEWRIGHT_NVPTX_PASS
#include <tilewright/exec/no_schedule.hpp>
#include <tilewright/exec/nvptx/async_copy.hpp>
#include <tilewright/exec/nvptx/atomic.hpp>
#include <tilewright/exec/nvptx/cross_lane.hpp>
#include <tilewright/exec/nvptx/matrix.hpp>
#include <tilewright/exec/nvptx/memory.hpp>
#elif TILEWRIGHT_STUB_PASS
#include <tilewright/exec/stub/stub.hpp>
#else
#include <tilewright/exec/host/async_copy.hpp>
#include <tilewright/exec/host/atomic.hpp>
#include <tilewright/exec/host/machine.hpp>
#endif

namespace tilewright::exec {
TILEWRIGHT_HD bool any(bool condition, call_site where = {}) {
  const call_scope scope(where);
  return ballot(condition) != 0;
}
#if !TILEWRIGHT_NVPTX_PASS
template <class V>
TILEWRIGHT_HD V masked_load(const global_buffer& buffer, index_t byte_offset, bool exists, call_site where = {}) {
  const call_scope scope(where);
  return buffer_load<V>(buffer, exists ? byte_offset : out_of_bounds_offset);
}
template <class V>
TILEWRIGHT_HD void masked_store(const global_buffer& buffer, index_t byte_offset, const V& value, bool exists,
                                call_site where = {}) {
  const call_scope scope(where);
  buffer_store(buffer, exists ? byte_offset : out_of_bounds_offset, value);
}
template <index_t Bytes>
TILEWRIGHT_HD void masked_load_to_lds(const global_buffer& buffer, index_t byte_offset, lds_pointer p,
                                      index_t lds_offset, bool exists, call_site where = {}) {
  const call_scope scope(where);
  async_load_to_lds<Bytes>(buffer, exists ? byte_offset : out_of_bounds_offset, p, lds_offset);
}
template <index_t Bits>
TILEWRIGHT_HD lane_mask equal_lanes(index_t value, call_site where = {}) {
  const call_scope scope(where);
  lane_mask equal = ballot(true);
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < Bits; ++i) {
    const bool is_set = (value >> i & 1) != 0;
    const lane_mask set = ballot(is_set);
    equal &= is_set ? set : ~set;
  }
  return equal;
}
#endif
#if !TILEWRIGHT_AMDGCN_PASS
/// The type in which loads and stores move a vector.
template <class V>
using moved_t = V;
#endif
}  // namespace tilewright::exec
