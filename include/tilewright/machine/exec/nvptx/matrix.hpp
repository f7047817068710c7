// SPDX-License-Identifier: MIT
// Tensor core instructions of NVIDIA GPUs, compute capability 8.0 and later.
#pragma once

#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/machine/exec/nvptx/machine.hpp>

namespace tilewright::exec::inline nvptx {

namespace detail {

template <class T>
TILEWRIGHT_HD unsigned pair(const T* elements, index_t i) {
  struct two {
    T low, high;
  };
  return bit_cast<unsigned>(two{elements[2 * i], elements[2 * i + 1]});
}

}  // namespace detail

template <arch::matrix_op Op, class T>
TILEWRIGHT_HD void mma(float* c, const T* a, const T* b) {
  constexpr bool f16 = __is_same(T, half_t);
  static_assert(f16 || __is_same(T, bfloat16_t), "mma: the operands are half_t or bfloat16_t");
  static_assert(arch::current::value.supports(Op), "mma: this target does not have the matrix instruction");
  using detail::pair;
  TILEWRIGHT_UNROLL(2)
  for (index_t n = 0; n < 2; ++n) {
    float* const d = c + 4 * n;
    if constexpr (f16) {
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
          "%2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(pair(a, 0)), "r"(pair(a, 1)), "r"(pair(a, 2)), "r"(pair(a, 3)), "r"(pair(b, 2 * n)),
            "r"(pair(b, 2 * n + 1)));
    } else {
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
          "%2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(pair(a, 0)), "r"(pair(a, 1)), "r"(pair(a, 2)), "r"(pair(a, 3)), "r"(pair(b, 2 * n)),
            "r"(pair(b, 2 * n + 1)));
    }
  }
}

template <arch::matrix_op Op, index_t Nth, class T>
TILEWRIGHT_HD void mma_issue(float* c, const T* a, const T* b) {
  mma<Op>(c, a, b);
}

template <bool Transposed = false>
TILEWRIGHT_HD array<unsigned, 4> ldmatrix_x4(lds_pointer p, index_t byte_offset) {
  array<unsigned, 4> words;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(p.address + byte_offset));
  if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  }
  return words;
}

template <bool Transposed = false>
TILEWRIGHT_HD void stmatrix_x4(lds_pointer p, index_t byte_offset, const array<unsigned, 4>& words) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(p.address + byte_offset));
  if constexpr (Transposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
  }
}

}  // namespace tilewright::exec::inline nvptx
