// SPDX-License-Identifier: MIT
// Single LDS instructions that no compiler moves, merges or drops, for programs that measure them.
#pragma once

#include <tilewright/core/arch/lds_op.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace gpu {

using tilewright::index_t;
using tilewright::arch::lds_op;
namespace exec = tilewright::exec;

#if TILEWRIGHT_AMDGCN_PASS

template <index_t Bytes>
struct lds_word {
  using type = exec::native_t<Bytes>;
};
template <>
struct lds_word<12> {
  using type __attribute__((ext_vector_type(3), may_alias)) = unsigned;
};

/// One instruction at lds + byte; a word of what was read.
template <lds_op Op>
TILEWRIGHT_HD unsigned issue(exec::lds_pointer lds, index_t byte) {
  static_assert(Op <= lds_op::write_b128 && Op != lds_op::read_b64_tr_b16 && Op != lds_op::read_b64_tr_b8,
                "issue: AMD GPUs have no such instruction");
  using word = typename lds_word<tilewright::arch::access_bytes(Op)>::type;
  auto* const place = (volatile __attribute__((address_space(3))) word*)(lds.address + byte);
  if constexpr (tilewright::arch::is_write(Op)) {
    *place = word(unsigned(byte));
    return 0;
  } else if constexpr (sizeof(word) <= 4) {
    return *place;
  } else {
    const word value = *place;
    return value[0];
  }
}

#elif TILEWRIGHT_NVPTX_PASS

template <lds_op Op>
TILEWRIGHT_HD unsigned issue(exec::lds_pointer lds, index_t byte) {
  const unsigned a = static_cast<unsigned>(__cvta_generic_to_shared(lds.address + byte)), v = unsigned(byte);
  unsigned r = 0, s, t, u;
  if constexpr (Op == lds_op::read_b8) {
    asm volatile("{ .reg .u8 b; ld.volatile.shared.u8 b, [%1]; cvt.u32.u8 %0, b; }" : "=r"(r) : "r"(a) : "memory");
  } else if constexpr (Op == lds_op::read_b16) {
    asm volatile("{ .reg .u16 b; ld.volatile.shared.u16 b, [%1]; cvt.u32.u16 %0, b; }" : "=r"(r) : "r"(a) : "memory");
  } else if constexpr (Op == lds_op::read_b32) {
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(r) : "r"(a) : "memory");
  } else if constexpr (Op == lds_op::read_b64) {
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(r), "=r"(s) : "r"(a) : "memory");
  } else if constexpr (Op == lds_op::read_b128) {
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r), "=r"(s), "=r"(t), "=r"(u)
                 : "r"(a)
                 : "memory");
  } else if constexpr (Op == lds_op::ldmatrix) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r), "=r"(s), "=r"(t), "=r"(u)
                 : "r"(a)
                 : "memory");
  } else if constexpr (Op == lds_op::write_b8) {
    asm volatile("{ .reg .u8 b; cvt.u8.u32 b, %1; st.volatile.shared.u8 [%0], b; }" ::"r"(a), "r"(v) : "memory");
  } else if constexpr (Op == lds_op::write_b16) {
    asm volatile("{ .reg .u16 b; cvt.u16.u32 b, %1; st.volatile.shared.u16 [%0], b; }" ::"r"(a), "r"(v) : "memory");
  } else if constexpr (Op == lds_op::write_b32) {
    asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory");
  } else if constexpr (Op == lds_op::write_b64) {
    asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(a), "r"(v) : "memory");
  } else if constexpr (Op == lds_op::write_b128) {
    asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(a), "r"(v) : "memory");
  } else {
    static_assert(Op == lds_op::stmatrix, "issue: NVIDIA GPUs have no such instruction");
#if __CUDA_ARCH__ >= 900
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(a), "r"(v) : "memory");
#endif
  }
  return r;
}

#else

template <lds_op Op>
TILEWRIGHT_HD unsigned issue(exec::lds_pointer, index_t) {
  __builtin_trap();
}

#endif

}  // namespace gpu
