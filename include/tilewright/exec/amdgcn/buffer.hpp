// SPDX-License-Identifier: MIT
// Global memory with bounds checked by the hardware: raw buffer instructions.
#pragma once

#include <tilewright/exec/amdgcn/native.hpp>
#include <tilewright/exec/global_buffer.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::exec::inline amdgcn {

namespace detail {

// Word 3 of a buffer resource: raw addressing, offsets compared in bytes. GFX9: DATA_FORMAT = 32. GFX11 and GFX12:
// FORMAT = 32_UINT and OOB_SELECT = 3. (LLVM AMDGPU usage, "Buffer Resource Descriptor"; RDNA3 and RDNA4 ISA,
// table "Buffer Resource".)
TILEWRIGHT_HD constexpr int resource_word3() { return arch::current::value.wave_size == 64 ? 0x00027000 : 0x31004000; }

TILEWRIGHT_HD __amdgpu_buffer_rsrc_t make_resource(const global_buffer& buffer) {
  const long_index_t limit = 0x7fffffff;
  const long_index_t bytes = buffer.bytes < 0 ? 0 : buffer.bytes;
  return __builtin_amdgcn_make_buffer_rsrc(buffer.base, 0, int(min(bytes, limit)), resource_word3());
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

}  // namespace tilewright::exec::inline amdgcn
