// SPDX-License-Identifier: MIT
// Thread ids, global memory with bounds checked by the hardware, LDS, the block barrier and values of other lanes on
// AMD GPUs.
#pragma once

#include <tilewright/core/arch/current.hpp>
#include <tilewright/core/arch/transposing_read.hpp>
#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/block_index.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/core/base/vector.hpp>
#include <tilewright/machine/exec/global_buffer.hpp>

namespace tilewright::exec::inline amdgcn {

namespace detail {
template <index_t Bytes>
struct native {
  using type __attribute__((ext_vector_type(Bytes / 4), may_alias)) = unsigned;
};
template <index_t Bytes>
  requires(Bytes <= 4)
struct native<Bytes> {
  using type __attribute__((may_alias)) = tilewright::detail::unsigned_of<Bytes>;
};

template <class V>
struct moved {
  using type = typename native<sizeof(V)>::type;
};
template <index_t N>
  requires(N > 1)
struct moved<vector_t<float, N>> {
  using type __attribute__((ext_vector_type(N))) = float;
};
}  // namespace detail

/// The register type that one memory instruction moves: 1, 2, 4, 8 or 16 bytes.
template <index_t Bytes>
using native_t = typename detail::native<Bytes>::type;

/// The type in which loads and stores move a vector. Here not the vector itself: clang returns a struct element by
/// element, and the compiler then puts the elements together again.
template <class V>
using moved_t = typename detail::moved<V>::type;

TILEWRIGHT_HD index_t thread_id() { return index_t(__builtin_amdgcn_workitem_id_x()); }
TILEWRIGHT_HD index_t lane_id() { return thread_id() & (arch::current::value.wave_size - 1); }
/// with readfirstlane the compiler knows that it is uniform.
TILEWRIGHT_HD index_t wave_id() {
  return __builtin_amdgcn_readfirstlane(index_t(unsigned(thread_id()) / unsigned(arch::current::value.wave_size)));
}
TILEWRIGHT_HD block_index block_id() {
  return {index_t(__builtin_amdgcn_workgroup_id_x()), index_t(__builtin_amdgcn_workgroup_id_y()),
          index_t(__builtin_amdgcn_workgroup_id_z())};
}

namespace detail {

// Word 3 of a buffer resource: raw addressing, offsets compared in bytes. GFX9: DATA_FORMAT = 32. GFX11 and GFX12:
// FORMAT = 32_UINT and OOB_SELECT = 3. (LLVM AMDGPU usage, "Buffer Resource Descriptor"; RDNA3 and RDNA4 ISA,
// table "Buffer Resource".) gfx1250 keeps the lowest 4 bits, 0: without a stride, offsets are compared.
TILEWRIGHT_HD constexpr int resource_word3() { return arch::current::value.wave_size == 64 ? 0x00027000 : 0x31004000; }

TILEWRIGHT_HD __amdgpu_buffer_rsrc_t make_resource(const global_buffer& buffer) {
  const long_index_t limit = 0x7fffffff;
  const long_index_t bytes = buffer.bytes < 0 ? 0 : buffer.bytes;
  const int size = int(min(bytes, limit));
#if defined(__gfx1250__)
  // It computes with 64-bit integers in vector registers. Buffers are uniform, and a resource is scalar registers.
  const auto address = (__UINTPTR_TYPE__)buffer.base;
  const unsigned low = __builtin_amdgcn_readfirstlane(unsigned(address));
  const unsigned high = __builtin_amdgcn_readfirstlane(unsigned(address >> 32));
  return __builtin_amdgcn_make_buffer_rsrc((void*)(low | (__UINTPTR_TYPE__)high << 32), 0,
                                           __builtin_amdgcn_readfirstlane(size), resource_word3());
#else
  return __builtin_amdgcn_make_buffer_rsrc(buffer.base, 0, size, resource_word3());
#endif
}

}  // namespace detail

template <class V>
TILEWRIGHT_HD V buffer_load(const global_buffer& buffer, index_t byte_offset, index_t uniform_offset = 0) {
  const __amdgpu_buffer_rsrc_t r = detail::make_resource(buffer);
  if constexpr (sizeof(V) == 1)
    return __builtin_bit_cast(V, __builtin_amdgcn_raw_buffer_load_b8(r, byte_offset, uniform_offset, 0));
  if constexpr (sizeof(V) == 2)
    return __builtin_bit_cast(V, __builtin_amdgcn_raw_buffer_load_b16(r, byte_offset, uniform_offset, 0));
  if constexpr (sizeof(V) == 4)
    return __builtin_bit_cast(V, __builtin_amdgcn_raw_buffer_load_b32(r, byte_offset, uniform_offset, 0));
  if constexpr (sizeof(V) == 8)
    return __builtin_bit_cast(V, __builtin_amdgcn_raw_buffer_load_b64(r, byte_offset, uniform_offset, 0));
  if constexpr (sizeof(V) == 16)
    return __builtin_bit_cast(V, __builtin_amdgcn_raw_buffer_load_b128(r, byte_offset, uniform_offset, 0));
}

template <class V>
TILEWRIGHT_HD void buffer_store(const global_buffer& buffer, index_t byte_offset, const V& value) {
  const __amdgpu_buffer_rsrc_t r = detail::make_resource(buffer);
  const auto bits = __builtin_bit_cast(native_t<sizeof(V)>, value);
  if constexpr (sizeof(V) == 1) __builtin_amdgcn_raw_buffer_store_b8(bits, r, byte_offset, 0, 0);
  if constexpr (sizeof(V) == 2) __builtin_amdgcn_raw_buffer_store_b16(bits, r, byte_offset, 0, 0);
  if constexpr (sizeof(V) == 4) __builtin_amdgcn_raw_buffer_store_b32(bits, r, byte_offset, 0, 0);
  if constexpr (sizeof(V) == 8) __builtin_amdgcn_raw_buffer_store_b64(bits, r, byte_offset, 0, 0);
  if constexpr (sizeof(V) == 16) __builtin_amdgcn_raw_buffer_store_b128(bits, r, byte_offset, 0, 0);
}

/// 64-bit addresses and a comparison.
template <class V>
TILEWRIGHT_HD V buffer_load(const global_buffer& buffer, long_index_t byte_offset, index_t uniform_offset = 0) {
  byte_offset += uniform_offset;
  native_t<sizeof(V)> bits{};
  if (byte_offset >= 0 && byte_offset + long_index_t(sizeof(V)) <= buffer.bytes)
    bits = *(const __attribute__((address_space(1))) native_t<sizeof(V)>*)(buffer.base + byte_offset);
  return __builtin_bit_cast(V, bits);
}
template <class V>
TILEWRIGHT_HD void buffer_store(const global_buffer& buffer, long_index_t byte_offset, const V& value) {
  if (byte_offset >= 0 && byte_offset + long_index_t(sizeof(V)) <= buffer.bytes)
    *(__attribute__((address_space(1))) native_t<sizeof(V)>*)(buffer.base + byte_offset) =
        __builtin_bit_cast(native_t<sizeof(V)>, value);
}

/// Typed with its address space, so that every access is a ds_ instruction.
struct lds_pointer {
  /// byte in the block's LDS
  __attribute__((address_space(3))) char* address;

  /// The address `bytes` further.
  TILEWRIGHT_HD friend lds_pointer operator+(lds_pointer p, index_t bytes) { return {p.address + bytes}; }
};

template <index_t Bytes>
TILEWRIGHT_HD lds_pointer lds_allocate() {
  static_assert(
      Bytes <= arch::current::value.lds_bytes,
      "lds_allocate: the kernel needs more LDS than this target has; use a smaller block tile or fewer stages");
  static __attribute__((shared, aligned(16))) char memory[Bytes];
  return {(__attribute__((address_space(3))) char*)memory};
}

/// For places that are uniform: what is derived from them is not kept in scalar registers.
TILEWRIGHT_HD lds_pointer opaque(lds_pointer p) {
  unsigned address = unsigned((__UINTPTR_TYPE__)p.address);
  asm volatile("" : "+s"(address));
  return {(__attribute__((address_space(3))) char*)address};
}

template <class V>
TILEWRIGHT_HD V lds_load(lds_pointer p, index_t byte_offset) {
  using native = native_t<sizeof(V)>;
  return __builtin_bit_cast(V, *(const __attribute__((address_space(3))) native*)(p.address + byte_offset));
}

template <class V>
TILEWRIGHT_HD void lds_store(lds_pointer p, index_t byte_offset, const V& value) {
  using native = native_t<sizeof(V)>;
  *(__attribute__((address_space(3))) native*)(p.address + byte_offset) = __builtin_bit_cast(native, value);
}

/// Fences of LDS only ("local"), so loads from global memory stay in flight.
TILEWRIGHT_HD void block_sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

TILEWRIGHT_HD void block_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront", "local");
}

/// The lanes run in lockstep, so nothing waits.
TILEWRIGHT_HD void wave_sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront", "local");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront", "local");
}

/// ds_read_b64_tr_b16 or _tr_b8.
template <class T>
TILEWRIGHT_HD vector_t<T, 8 / sizeof(T)> lds_load_transpose([[maybe_unused]] lds_pointer p,
                                                            [[maybe_unused]] index_t byte_offset) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2,
                "lds_load_transpose: transposing reads exist for elements of 1 and 2 bytes");
  static_assert(arch::current::value.supports(arch::transposing_read_op(sizeof(T))),
                "lds_load_transpose: this target has no transposing reads; load_tile_transpose works everywhere");
#if __has_builtin(__builtin_amdgcn_ds_read_tr16_b64_v4i16)
  typedef short halves __attribute__((ext_vector_type(4)));
  typedef int words __attribute__((ext_vector_type(2)));
  auto* const address = p.address + byte_offset;
  if constexpr (sizeof(T) == 2) {
    return bit_cast<vector_t<T, 4>>(
        __builtin_amdgcn_ds_read_tr16_b64_v4i16((__attribute__((address_space(3))) halves*)address));
  } else {
    return bit_cast<vector_t<T, 8>>(
        __builtin_amdgcn_ds_read_tr8_b64_v2i32((__attribute__((address_space(3))) words*)address));
  }
#endif
}

/// NVIDIA GPUs only; declared so that kernels for every machine parse.
template <bool = false>
TILEWRIGHT_HD array<unsigned, 4> ldmatrix_x4(lds_pointer p, index_t byte_offset);

template <class T>
TILEWRIGHT_HD T shuffle(T value, index_t source_lane) {
  static_assert(sizeof(T) == 4, "shuffle: lanes exchange values of 4 bytes");
  return bit_cast<T>(__builtin_amdgcn_ds_bpermute(source_lane * 4, bit_cast<int>(value)));
}

template <class T>
TILEWRIGHT_HD T broadcast(T value, index_t source_lane) {
  static_assert(sizeof(T) == 4, "broadcast: lanes exchange values of 4 bytes");
  return bit_cast<T>(__builtin_amdgcn_readlane(bit_cast<int>(value), source_lane));
}

template <index_t Mask, class T>
TILEWRIGHT_HD T shuffle_xor(T value) {
  static_assert(sizeof(T) == 4, "shuffle_xor: lanes exchange values of 4 bytes");
  static_assert(Mask > 0 && Mask < arch::current::value.wave_size,
                "shuffle_xor: the mask must be less than the wave's size, and not 0");
  const int bits = bit_cast<int>(value);
  if constexpr (Mask < 4) {
    // quad_perm: the lanes of each four in the order i ^ Mask
    constexpr int order = Mask | (1 ^ Mask) << 2 | (2 ^ Mask) << 4 | (3 ^ Mask) << 6;
    return bit_cast<T>(__builtin_amdgcn_mov_dpp(bits, order, 0xf, 0xf, true));
  } else if constexpr (Mask == 7) {
    return bit_cast<T>(__builtin_amdgcn_mov_dpp(bits, 0x141, 0xf, 0xf, true));  // row_half_mirror
  } else if constexpr (Mask == 8) {
    return bit_cast<T>(__builtin_amdgcn_mov_dpp(bits, 0x128, 0xf, 0xf, true));  // row_ror:8
  } else if constexpr (Mask == 15) {
    return bit_cast<T>(__builtin_amdgcn_mov_dpp(bits, 0x140, 0xf, 0xf, true));  // row_mirror
  } else if constexpr (Mask < 32) {
    return bit_cast<T>(__builtin_amdgcn_ds_swizzle(bits, Mask << 10 | 0x1f));
  } else {
    return shuffle(value, lane_id() ^ Mask);
  }
}

using lane_mask = unsigned long long;

TILEWRIGHT_HD lane_mask ballot(bool condition) {
  if constexpr (arch::current::value.wave_size == 64) {
    return __builtin_amdgcn_ballot_w64(condition);
  } else {
    return __builtin_amdgcn_ballot_w32(condition);
  }
}
TILEWRIGHT_HD index_t count_lanes(lane_mask mask) { return __builtin_popcountll(mask); }
TILEWRIGHT_HD index_t count_lower_lanes(lane_mask mask) {
  const unsigned low = __builtin_amdgcn_mbcnt_lo(unsigned(mask), 0);
  if constexpr (arch::current::value.wave_size == 32) return index_t(low);
  return index_t(__builtin_amdgcn_mbcnt_hi(unsigned(mask >> 32), low));
}

}  // namespace tilewright::exec::inline amdgcn
