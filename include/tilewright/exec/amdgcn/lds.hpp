// SPDX-License-Identifier: MIT
// LDS and the block barrier on AMD GPUs.
#pragma once

#include <tilewright/arch/transposing_read.hpp>
#include <tilewright/exec/amdgcn/native.hpp>
#include <tilewright/numeric/vector.hpp>
#include <tilewright/util/array.hpp>

namespace tilewright::exec::inline amdgcn {

/// Typed with its address space, so that every access is a ds_ instruction.
struct lds_pointer {
  __attribute__((address_space(3))) char* address;

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
TILEWRIGHT_HD lds_pointer forget_origin(lds_pointer p) {
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
#if defined(__gfx950__)
  typedef short halves __attribute__((ext_vector_type(4)));
  typedef int words __attribute__((ext_vector_type(2)));
  auto* const place = p.address + byte_offset;
  if constexpr (sizeof(T) == 2) {
    return bit_cast<vector_t<T, 4>>(
        __builtin_amdgcn_ds_read_tr16_b64_v4i16((__attribute__((address_space(3))) halves*)place));
  } else {
    return bit_cast<vector_t<T, 8>>(
        __builtin_amdgcn_ds_read_tr8_b64_v2i32((__attribute__((address_space(3))) words*)place));
  }
#endif
}

/// NVIDIA GPUs only; declared so that kernels for every machine parse.
template <bool = false>
TILEWRIGHT_HD array<unsigned, 4> ldmatrix_x4(lds_pointer p, index_t byte_offset);

}  // namespace tilewright::exec::inline amdgcn
