// SPDX-License-Identifier: MIT
// Instructions whose clocks are known, for --cycles.
#include "common.hpp"

// 64 matrix instructions, each of which needs the result of the one before it.
KERNEL void matrix_chain() {
  asm volatile(".rept 64\n v_mfma_f32_32x32x8f16 v[0:15], v[16:17], v[18:19], v[0:15]\n .endr" ::
                   : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
                     "v15", "v16", "v17", "v18", "v19");
}
KERNEL void vector_chain() { asm volatile(".rept 200\n v_add_u32 v1, v1, v1\n .endr" ::: "v1"); }
// 32 reads of 16 bytes: `stride` bytes between lanes.
KERNEL void lds_reads(int stride) {
  SHARED static int memory[16384];
  const int address = lane() * stride;
  asm volatile(".rept 32\n ds_read_b128 v[4:7], %0\n .endr\n s_waitcnt lgkmcnt(0)" ::"v"(address), "v"(memory)
               : "v4", "v5", "v6", "v7");
}
// 10 loads, each waited for.
KERNEL void loads(const int* data) {
  const int* mine = data + tid() * 4;
  asm volatile(".rept 10\n global_load_dwordx4 v[4:7], %0, off\n s_waitcnt vmcnt(0)\n .endr" ::"v"(mine)
               : "v4", "v5", "v6", "v7");
}
// 20 iterations of 50 vector instructions; the other waves wait for the first one at a barrier.
KERNEL void loop() {
  if (__builtin_amdgcn_readfirstlane(tid()) < 64)
    asm volatile(
        "s_mov_b32 s20, 20\n 1:\n .rept 50\n v_add_u32 v1, v1, v1\n .endr\n s_sub_u32 s20, s20, 1\n s_cmp_lg_u32 s20, "
        "0\n"
        " s_cbranch_scc1 1b" ::
            : "v1", "s20", "scc");
  __builtin_amdgcn_s_barrier();
}
