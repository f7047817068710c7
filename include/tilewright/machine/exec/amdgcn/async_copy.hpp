// SPDX-License-Identifier: MIT
// Copies from global memory to LDS that bypass registers, on the AMD GPUs that have them.
#pragma once

#include <tilewright/core/arch/tensor_descriptor.hpp>
#include <tilewright/core/base/sequence.hpp>
#include <tilewright/machine/exec/amdgcn/machine.hpp>

namespace tilewright::exec::inline amdgcn {

namespace detail {

/// Copies of 1 and 2 bytes leave gaps between the lanes; copies of 12 bytes are not used.
template <index_t Bytes>
inline constexpr bool copies_directly_to_lds =
    (Bytes == 4 || Bytes == 16) && arch::current::value.supports_direct_to_lds(Bytes);

using resource_words __attribute__((ext_vector_type(4))) = unsigned;

/// The instruction itself: after the compiler's builtin for it, the compiler waits for all copies before the next read
/// of any part of LDS. M0 needs one instruction before it is used. (CDNA3 ISA manual, "Memory Buffer Load to LDS";
/// LLVM, GCNHazardRecognizer.)
template <index_t Bytes>
TILEWRIGHT_HD void copy_to_lds([[maybe_unused]] resource_words from, [[maybe_unused]] index_t byte_offset,
                               [[maybe_unused]] unsigned first_lane) {
#if defined(__GFX9__)
  if constexpr (Bytes == 4)
    asm volatile("s_nop 0\n\tbuffer_load_dword %0, %1, 0 offen lds" ::"v"(byte_offset), "s"(from), "{m0}"(first_lane));
  if constexpr (Bytes == 16)
    asm volatile("s_nop 0\n\tbuffer_load_dwordx4 %0, %1, 0 offen lds" ::"v"(byte_offset), "s"(from),
                 "{m0}"(first_lane));
#endif
}

/// LDS addresses are 32-bit.
TILEWRIGHT_HD unsigned lds_address(lds_pointer p) { return unsigned((__UINTPTR_TYPE__)p.address); }

}  // namespace detail

/// A step costs two scalar instructions. The hardware goes on comparing offsets with the initial number of bytes.
struct walking_buffer {
  TILEWRIGHT_HD explicit walking_buffer(const global_buffer& buffer) {
    const __UINTPTR_TYPE__ base = (__UINTPTR_TYPE__)buffer.base;
    const long_index_t bytes = buffer.bytes < 0 ? 0 : min(buffer.bytes, long_index_t(0x7fffffff));
    words = {unsigned(base), unsigned(base >> 32) & 0xffff, unsigned(bytes), unsigned(detail::resource_word3())};
  }
  TILEWRIGHT_HD void advance(long_index_t bytes) {
    const unsigned long long base = (words[0] | (unsigned long long)(words[1]) << 32) + (unsigned long long)(bytes);
    words[0] = unsigned(base);
    words[1] = unsigned(base >> 32);
  }

  detail::resource_words words;  ///< the buffer resource, whose base moves
};

template <index_t Bytes>
TILEWRIGHT_HD void async_load_wave_to_lds(const walking_buffer& buffer, index_t byte_offset, lds_pointer first_lane) {
  static_assert(detail::copies_directly_to_lds<Bytes>,
                "async_load_wave_to_lds: this target does not copy this many bytes for each lane without registers");
  detail::copy_to_lds<Bytes>(buffer.words, byte_offset, detail::lds_address(first_lane));
}

template <index_t Bytes>
TILEWRIGHT_HD void async_load_to_lds(const global_buffer& buffer, index_t byte_offset, lds_pointer p,
                                     index_t lds_offset) {
  if constexpr (detail::copies_directly_to_lds<Bytes>) {
    const unsigned own = detail::lds_address(p) + unsigned(lds_offset);
    const unsigned first = __builtin_amdgcn_readfirstlane(own - unsigned(lane_id() * Bytes));
    detail::copy_to_lds<Bytes>(walking_buffer(buffer).words, byte_offset, first);
  } else {
    using native = native_t<Bytes>;
    lds_store(p, lds_offset, buffer_load<native>(buffer, byte_offset));
  }
}

template <index_t Outstanding = 0>
TILEWRIGHT_HD void async_wait() {
  static_assert(Outstanding >= 0 && Outstanding < 64, "async_wait: between 0 and 63 copies may be outstanding");
  if constexpr (arch::current::value.direct_to_lds_bytes.size() > 0) {
    // s_waitcnt of GFX9: vmcnt in bits 3:0 and 15:14; expcnt and lgkmcnt are not waited for. (CDNA3 ISA, "S_WAITCNT")
    __builtin_amdgcn_s_waitcnt((Outstanding & 15) | 0x0f70 | (Outstanding >> 4) << 14);
    asm volatile("" ::: "memory");
  }
}

/// By gfx1250's tensor data mover, once for the wave. Tiles of a wave complete in order.
TILEWRIGHT_HD void load_tensor_tile([[maybe_unused]] const arch::tensor_descriptor& d,
                                    [[maybe_unused]] lds_pointer to) {
#if defined(__gfx1250__)
  using four __attribute__((ext_vector_type(4))) = int;
  using eight __attribute__((ext_vector_type(8))) = int;
  four group0;
  eight group1;
  unroll<4>([&](auto i) { group0[i.value] = int(d.group0[i.value]); });
  unroll<8>([&](auto i) { group1[i.value] = int(d.group1[i.value]); });
  group0[1] = int(detail::lds_address(to));
  __builtin_amdgcn_tensor_load_to_lds_d2(group0, group1, 0);
#endif
}
/// Waits until at most Outstanding of the wave's latest tiles are not complete.
template <index_t Outstanding>
TILEWRIGHT_HD void wait_for_tensor_tiles() {
#if defined(__gfx1250__)
  __builtin_amdgcn_s_wait_tensorcnt(Outstanding);
  asm volatile("" ::: "memory");
#endif
}

/// Groups are not counted: a wait is for all copies.
template <index_t Bytes, bool ReadOnce = false>
TILEWRIGHT_HD void async_load_in_group(const walking_buffer& buffer, index_t byte_offset, lds_pointer p,
                                       index_t lds_offset) {
  const __UINTPTR_TYPE__ base = buffer.words[0] | (unsigned long long)(buffer.words[1]) << 32;
  async_load_to_lds<Bytes>(make_global_buffer((const void*)base, long_index_t(buffer.words[2])), byte_offset, p,
                           lds_offset);
}
TILEWRIGHT_HD void async_end_group() {}
template <index_t Outstanding>
TILEWRIGHT_HD void async_wait_groups() {
  async_wait<0>();
}

}  // namespace tilewright::exec::inline amdgcn
