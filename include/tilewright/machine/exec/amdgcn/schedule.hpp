// SPDX-License-Identifier: MIT
// Hints to the compiler's scheduler, and explicit waits that replace several of its own.
#pragma once

#include <tilewright/core/arch/current.hpp>

namespace tilewright::exec::inline amdgcn {

/// What schedule_group counts. (LLVM AMDGPU usage, llvm.amdgcn.sched.group.barrier.)
enum class instruction_kind : int { matrix = 0x8, global_load = 0x20, lds_read = 0x100, lds_write = 0x200 };

template <instruction_kind Kind, index_t Count>
TILEWRIGHT_HD void schedule_group() {
  __builtin_amdgcn_sched_group_barrier(int(Kind), Count, 0);
}

TILEWRIGHT_HD void schedule_fence() { __builtin_amdgcn_sched_barrier(0); }

TILEWRIGHT_HD index_t opaque(index_t value) {
  asm volatile("" : "+v"(value));
  return value;
}

/// A kernel's arguments at an offset of zero that the compiler cannot see.
template <class Args>
TILEWRIGHT_HD const Args& load_again(const Args& args) {
  index_t zero = 0;
  asm volatile("" : "+s"(zero));
  return *reinterpret_cast<const Args*>(reinterpret_cast<const char*>(&args) + zero);
}

/// Elsewhere wait_for_* do nothing, and the compiler waits where it must.
inline constexpr bool has_explicit_waits = arch::current::value.isa == arch::instruction_set::cdna;

/// One wait where the compiler would insert one before each use. (CDNA3 ISA manual, s_waitcnt: vmcnt in bits 0-3 and
/// 14-15, expcnt 4-6, lgkmcnt 8-11.)
template <index_t Left>
TILEWRIGHT_HD void wait_for_lds() {
  static_assert(0 <= Left && Left < 16);
  if constexpr (has_explicit_waits) __builtin_amdgcn_s_waitcnt(0xc07f | Left << 8);
}
template <index_t Left = 0>
TILEWRIGHT_HD void wait_for_global_loads() {
  static_assert(0 <= Left && Left < 64);
  if constexpr (has_explicit_waits) __builtin_amdgcn_s_waitcnt(0x0f70 | (Left & 15) | Left >> 4 << 14);
}

template <index_t Priority>
TILEWRIGHT_HD void set_priority() {
  static_assert(0 <= Priority && Priority < 4);
  __builtin_amdgcn_s_setprio(Priority);
}

/// One statement for all: the compiler reserves as many accumulation registers as one statement needs.
template <index_t N>
TILEWRIGHT_HD void keep_in_accumulation_registers([[maybe_unused]] void* registers) {
#if defined(__GFX9__)
  using vector __attribute__((ext_vector_type(16))) = float;
  vector v[N];
  __builtin_memcpy(&v, registers, sizeof v);
  if constexpr (N == 1) asm("" : "+a"(v[0]));
  if constexpr (N == 2) asm("" : "+a"(v[0]), "+a"(v[1]));
  if constexpr (N == 4) asm("" : "+a"(v[0]), "+a"(v[1]), "+a"(v[2]), "+a"(v[3]));
  if constexpr (N == 8)
    asm("" : "+a"(v[0]), "+a"(v[1]), "+a"(v[2]), "+a"(v[3]), "+a"(v[4]), "+a"(v[5]), "+a"(v[6]), "+a"(v[7]));
  if constexpr (N == 16)
    asm(""
        : "+a"(v[0]), "+a"(v[1]), "+a"(v[2]), "+a"(v[3]), "+a"(v[4]), "+a"(v[5]), "+a"(v[6]), "+a"(v[7]), "+a"(v[8]),
          "+a"(v[9]), "+a"(v[10]), "+a"(v[11]), "+a"(v[12]), "+a"(v[13]), "+a"(v[14]), "+a"(v[15]));
  __builtin_memcpy(registers, &v, sizeof v);
#endif
}

}  // namespace tilewright::exec::inline amdgcn
