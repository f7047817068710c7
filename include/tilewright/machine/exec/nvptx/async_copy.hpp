// SPDX-License-Identifier: MIT
// Copies from global memory to LDS (shared memory) that bypass registers: cp.async.
#pragma once

#include <tilewright/core/arch/tensor_descriptor.hpp>
#include <tilewright/machine/exec/nvptx/machine.hpp>

namespace tilewright::exec::inline nvptx {

struct walking_buffer {
  TILEWRIGHT_HD explicit walking_buffer(const global_buffer& buffer) : base(buffer.base) {}
  TILEWRIGHT_HD void advance(long_index_t bytes) { base += bytes; }

  const char* base;  ///< moves along the tensor
};

template <index_t Bytes, bool ReadOnce = false>
TILEWRIGHT_HD void async_load_in_group(const walking_buffer& buffer, index_t byte_offset, lds_pointer p,
                                       index_t lds_offset) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(p.address + lds_offset));
  const char* const from = buffer.base + unsigned(byte_offset);
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "async_load_in_group: cp.async copies 4, 8 or 16 bytes");
  // Where no bytes are read the address does not matter. The comparison is part of the statement, because a loop would
  // otherwise keep its results for all copies in registers.
#define TILEWRIGHT_CP_ASYNC(instruction, ...)                                                         \
  asm volatile(                                                                                       \
      "{.reg .pred inside;\n.reg .b32 bytes_read;\n"                                                  \
      "setp.ge.s32 inside, %2, 0;\nselp.b32 bytes_read, %3, 0, inside;\n" instruction ";}" ::"r"(to), \
      "l"(from), "r"(byte_offset), "n"(Bytes)__VA_OPT__(, ) __VA_ARGS__                               \
      : "memory")
  if constexpr (Bytes == 16 && ReadOnce) {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    TILEWRIGHT_CP_ASYNC("cp.async.cg.shared.global.L2::cache_hint.L2::256B [%0], [%1], %3, bytes_read, %4",
                        "l"(policy));
  } else if constexpr (Bytes == 16) {
    TILEWRIGHT_CP_ASYNC("cp.async.cg.shared.global.L2::128B [%0], [%1], %3, bytes_read");
  } else {
    TILEWRIGHT_CP_ASYNC("cp.async.ca.shared.global [%0], [%1], %3, bytes_read");
  }
#undef TILEWRIGHT_CP_ASYNC
}
TILEWRIGHT_HD void async_end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <index_t Outstanding>
TILEWRIGHT_HD void async_wait_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Outstanding) : "memory");
}

/// Where no bytes are read the address does not matter.
template <index_t Bytes>
TILEWRIGHT_HD void async_load_first_bytes(const char* from, index_t bytes_read, lds_pointer p, index_t lds_offset) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(p.address + lds_offset));
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes_read)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes), "r"(bytes_read)
                 : "memory");
  }
}
/// 1 and 2 bytes are loaded and stored.
template <index_t Bytes>
TILEWRIGHT_HD void masked_load_to_lds(const global_buffer& buffer, index_t byte_offset, lds_pointer p,
                                      index_t lds_offset, bool exists) {
  if constexpr (Bytes < 4) {
    lds_store(p, lds_offset, masked_load<native_t<Bytes>>(buffer, byte_offset, exists));
  } else {
    async_load_first_bytes<Bytes>(buffer.base + byte_offset, exists ? Bytes : 0, p, lds_offset);
    async_end_group();
  }
}
template <index_t Bytes>
TILEWRIGHT_HD void async_load_to_lds(const global_buffer& buffer, index_t byte_offset, lds_pointer p,
                                     index_t lds_offset) {
  masked_load_to_lds<Bytes>(buffer, byte_offset, p, lds_offset, detail::is_inside<Bytes>(buffer, byte_offset));
}

/// AMD GPUs only; declared so that kernels for every machine parse.
template <index_t Bytes>
TILEWRIGHT_HD void async_load_wave_to_lds(const walking_buffer& buffer, index_t byte_offset, lds_pointer first_lane);

TILEWRIGHT_HD void load_tensor_tile(const arch::tensor_descriptor&, lds_pointer);
template <index_t Outstanding>
TILEWRIGHT_HD void wait_for_tensor_tiles();

template <index_t Outstanding = 0>
TILEWRIGHT_HD void async_wait() {
  static_assert(Outstanding >= 0 && Outstanding < 64, "async_wait: between 0 and 63 copies may be outstanding");
  async_wait_groups<Outstanding>();
}

}  // namespace tilewright::exec::inline nvptx
