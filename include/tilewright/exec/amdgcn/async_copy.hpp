// SPDX-License-Identifier: MIT
// Copies from global memory to LDS that bypass registers, on the AMD GPUs that have them.
#pragma once

#include <tilewright/exec/amdgcn/buffer.hpp>
#include <tilewright/exec/amdgcn/lds.hpp>

namespace tilewright::exec {
inline namespace amdgcn {

namespace detail {

// Older compilers lack the builtin; then the copy goes through registers. Copies of 1 and 2 bytes leave gaps between the lanes.
#if __has_builtin(__builtin_amdgcn_raw_ptr_buffer_load_lds)
template <index_t Bytes>
inline constexpr bool copies_directly_to_lds = Bytes >= 4 && arch::current::value.supports_direct_to_lds(Bytes);
#else
template <index_t Bytes>
inline constexpr bool copies_directly_to_lds = false;
#endif

}  // namespace detail

/// Begins to copy Bytes from the buffer (zeros when they are not inside) to LDS; async_wait() says when they are there. All lanes
/// of the wave call it, and the destination of lane l is that of lane 0 plus l * Bytes. Targets without such an instruction load and
/// store.
template <index_t Bytes>
TILEWRIGHT_HD void async_load_to_lds(const global_buffer& buffer, index_t byte_offset, lds_pointer p,
                                     index_t lds_offset) {
  if constexpr (detail::copies_directly_to_lds<Bytes>) {
#if __has_builtin(__builtin_amdgcn_raw_ptr_buffer_load_lds)
    // LDS addresses are 32-bit; the one of lane 0 goes to a scalar register.
    const unsigned own = unsigned((__UINTPTR_TYPE__)p.address) + unsigned(lds_offset);
    const unsigned first = __builtin_amdgcn_readfirstlane(own - unsigned(lane_id() * Bytes));
    auto* const to = (__attribute__((address_space(3))) void*)first;
    const __amdgpu_buffer_rsrc_t from = detail::make_resource(buffer);
    // The size must be a literal that the target knows.
    if constexpr (Bytes == 4) __builtin_amdgcn_raw_ptr_buffer_load_lds(from, to, 4, byte_offset, 0, 0, 0);
#if defined(__gfx950__)
    if constexpr (Bytes == 16) __builtin_amdgcn_raw_ptr_buffer_load_lds(from, to, 16, byte_offset, 0, 0, 0);
#endif
#endif
  } else {
    using native = native_t<Bytes>;
    lds_store(p, lds_offset, buffer_load<native>(buffer, byte_offset));
  }
}

/// Waits until at most Outstanding of the thread's latest calls of async_load_to_lds() are not complete. What they wrote is then
/// visible to the wave, and to the block after a barrier.
template <index_t Outstanding = 0>
TILEWRIGHT_HD void async_wait() {
  static_assert(Outstanding >= 0 && Outstanding < 64, "async_wait: between 0 and 63 copies may be outstanding");
  if constexpr (arch::current::value.direct_to_lds_bytes.size() > 0) {
    // s_waitcnt of GFX9: vmcnt in bits 3:0 and 15:14; expcnt and lgkmcnt are not waited for. (CDNA3 ISA, "S_WAITCNT")
    __builtin_amdgcn_s_waitcnt((Outstanding & 15) | 0x0f70 | (Outstanding >> 4) << 14);
    asm volatile("" ::: "memory");
  }
}

}  // namespace amdgcn
}  // namespace tilewright::exec
