// SPDX-License-Identifier: MIT
// Thread ids, LDS (shared memory), the block barrier, bounds-checked global memory and values of other lanes on NVIDIA
// GPUs.
#pragma once

#include <tilewright/core/arch/current.hpp>
#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/block_index.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/core/base/vector.hpp>
#include <tilewright/machine/exec/global_buffer.hpp>

namespace tilewright::exec::inline nvptx {

TILEWRIGHT_HD index_t thread_id() { return index_t(threadIdx.x); }
TILEWRIGHT_HD index_t lane_id() { return index_t(threadIdx.x & 31u); }
TILEWRIGHT_HD index_t wave_id() { return index_t(threadIdx.x / 32u); }
TILEWRIGHT_HD block_index block_id() { return {index_t(blockIdx.x), index_t(blockIdx.y), index_t(blockIdx.z)}; }

TILEWRIGHT_HD index_t opaque(index_t value) {
  asm volatile("" : "+r"(value));
  return value;
}
TILEWRIGHT_HD void block_sync() { __syncthreads(); }
TILEWRIGHT_HD void block_barrier() { block_sync(); }
TILEWRIGHT_HD void wave_sync() { __syncwarp(); }

namespace detail {

extern __shared__ __align__(1024) char lds_memory[];

}  // namespace detail

/// The register type that one memory instruction moves.
template <index_t Bytes>
using native_t = tilewright::detail::conditional_t<
    Bytes == 16, uint4, tilewright::detail::conditional_t<Bytes == 8, uint2, tilewright::detail::unsigned_of<Bytes>>>;

struct lds_pointer {
  char* address;  ///< generic address

  /// The address `bytes` further.
  TILEWRIGHT_HD friend lds_pointer operator+(lds_pointer p, index_t bytes) { return {p.address + bytes}; }
};

/// Dynamic shared memory, of which the launch must ask for at least Bytes.
template <index_t Bytes>
TILEWRIGHT_HD lds_pointer lds_allocate() {
  static_assert(
      Bytes <= arch::current::value.lds_bytes,
      "lds_allocate: the kernel needs more LDS than this target has; use a smaller block tile or fewer stages");
  return {detail::lds_memory};
}

/// Keeps the address in a register: the compiler would compute it again in each branch.
TILEWRIGHT_HD lds_pointer opaque(lds_pointer p) {
  auto address = unsigned(__cvta_generic_to_shared(p.address));
  asm volatile("" : "+r"(address));
  return {static_cast<char*>(__cvta_shared_to_generic(address))};
}
template <class V>
TILEWRIGHT_HD V lds_load(lds_pointer p, index_t byte_offset) {
  return bit_cast<V>(*reinterpret_cast<const native_t<sizeof(V)>*>(p.address + byte_offset));
}

template <class V>
TILEWRIGHT_HD void lds_store(lds_pointer p, index_t byte_offset, const V& value) {
  *reinterpret_cast<native_t<sizeof(V)>*>(p.address + byte_offset) = bit_cast<native_t<sizeof(V)>>(value);
}

/// AMD GPUs only; declared so that kernels for every machine parse.
template <class T>
TILEWRIGHT_HD vector_t<T, 8 / sizeof(T)> lds_load_transpose(lds_pointer p, index_t byte_offset);

namespace detail {

/// Offsets have 31 bits, so 32 bits of the size suffice, and one comparison per access.
template <index_t Bytes>
TILEWRIGHT_HD bool is_inside(const global_buffer& buffer, index_t byte_offset) {
  const unsigned size = unsigned(min(max(buffer.bytes, long_index_t(0)), long_index_t(1) << 31));
  const unsigned num_offsets = size < unsigned(Bytes) ? 0 : size - Bytes + 1;
  return unsigned(byte_offset) < num_offsets;
}
template <index_t Bytes>
TILEWRIGHT_HD bool is_inside(const global_buffer& buffer, long_index_t byte_offset) {
  return byte_offset >= 0 && byte_offset + Bytes <= buffer.bytes;
}

}  // namespace detail

/// Offset: index_t, or long_index_t where lanes may be far apart.
template <class V, class Offset>
TILEWRIGHT_HD V masked_load(const global_buffer& buffer, Offset byte_offset, bool exists) {
  native_t<sizeof(V)> bits{};
  if (exists) bits = *reinterpret_cast<const native_t<sizeof(V)>*>(buffer.base + byte_offset);
  return bit_cast<V>(bits);
}
template <class V, class Offset>
TILEWRIGHT_HD void masked_store(const global_buffer& buffer, Offset byte_offset, const V& value, bool exists) {
  if (exists) *reinterpret_cast<native_t<sizeof(V)>*>(buffer.base + byte_offset) = bit_cast<native_t<sizeof(V)>>(value);
}
template <class V, class Offset>
TILEWRIGHT_HD V buffer_load(const global_buffer& buffer, Offset byte_offset, index_t uniform_offset = 0) {
  byte_offset += uniform_offset;
  return masked_load<V>(buffer, byte_offset, detail::is_inside<sizeof(V)>(buffer, byte_offset));
}
template <class V, class Offset>
TILEWRIGHT_HD void buffer_store(const global_buffer& buffer, Offset byte_offset, const V& value) {
  masked_store(buffer, byte_offset, value, detail::is_inside<sizeof(V)>(buffer, byte_offset));
}

template <class T>
TILEWRIGHT_HD T shuffle(T value, index_t source_lane) {
  static_assert(sizeof(T) == 4, "shuffle: lanes exchange values of 4 bytes");
  unsigned result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;"
               : "=r"(result)
               : "r"(bit_cast<unsigned>(value)), "r"(source_lane));
  return bit_cast<T>(result);
}

template <class T>
TILEWRIGHT_HD T broadcast(T value, index_t source_lane) {
  return shuffle(value, source_lane);
}

template <index_t Mask, class T>
TILEWRIGHT_HD T shuffle_xor(T value) {
  static_assert(sizeof(T) == 4, "shuffle_xor: lanes exchange values of 4 bytes");
  static_assert(Mask > 0 && Mask < 32, "shuffle_xor: the mask must be less than the wave's size, and not 0");
  unsigned result;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=r"(result) : "r"(bit_cast<unsigned>(value)), "n"(Mask));
  return bit_cast<T>(result);
}

using lane_mask = unsigned;
TILEWRIGHT_HD lane_mask ballot(bool condition) { return __ballot_sync(~0u, condition); }
/// Bit by bit in four instructions, fewer than the compiler finds for ballot().
template <index_t Bits>
TILEWRIGHT_HD lane_mask equal_lanes(index_t value) {
  lane_mask equal = ~0u;
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < Bits; ++i) {
    lane_mask same;
    asm volatile(
        "{\n .reg .pred p;\n and.b32 %0, %1, %2;\n setp.ne.u32 p, %0, 0;\n vote.sync.ballot.b32 %0, p, -1;\n"
        " @!p not.b32 %0, %0;\n}"
        : "=r"(same)
        : "r"(value), "r"(1u << i));
    equal &= same;
  }
  return equal;
}
TILEWRIGHT_HD index_t count_lanes(lane_mask mask) { return __popc(mask); }
TILEWRIGHT_HD index_t count_lower_lanes(lane_mask mask) { return __popc(mask & ((1u << lane_id()) - 1)); }

}  // namespace tilewright::exec::inline nvptx
