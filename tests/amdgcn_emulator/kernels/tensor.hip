// SPDX-License-Identifier: MIT
// gfx1250: tiles by the tensor data mover, asynchronous copies to LDS, and clusters.
#include "common.hpp"

// Copies a tile to LDS. Then LDS, or by the second descriptor a tile of it, goes to memory.
KERNEL WORKGROUP(64) void tensor_tile(int* out, int4v load0, int8v load1, int4v store0, int8v store1, int words,
                                      int stores, int waits) {
  SHARED int lds[4096];
  for (int n = tid(); n < 4096; n += 64) lds[n] = -1;
  barrier();
  const int start = int((__UINTPTR_TYPE__)lds);
  const bool first = __builtin_amdgcn_readfirstlane(tid()) == 0;
  load0[1] += start, store0[1] += start;
  if (first) {
    __builtin_amdgcn_tensor_load_to_lds_d2(load0, load1, 0);
    if (waits) __builtin_amdgcn_s_wait_tensorcnt(0);
  }
  barrier();
  if (stores && first)
    __builtin_amdgcn_tensor_store_from_lds_d2(store0, store1, 0), __builtin_amdgcn_s_wait_tensorcnt(0);
  if (!stores)
    for (int n = tid(); n < words; n += 64) out[n] = lds[n];
}

// Each workgroup reads what the next one of its cluster has written before the barrier.
KERNEL WORKGROUP(64) __attribute__((cluster_dims(2, 2, 1))) void cluster_exchange(int* out, int* ids, int width) {
  const int x = bid(), y = __builtin_amdgcn_workgroup_id_y(), rank = __builtin_amdgcn_cluster_workgroup_flat_id();
  if (tid() == 0) {
    out[y * width + x] = 100 * y + x;
    ids[y * width + x] = rank | __builtin_amdgcn_cluster_id_x() << 4 | __builtin_amdgcn_cluster_id_y() << 8 |
                         __builtin_amdgcn_cluster_workgroup_max_flat_id() << 12;
  }
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __builtin_amdgcn_s_cluster_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  if (tid() == 0) {
    const int next = (y ^ 1) * width + (x ^ 1);
    const int seen = __builtin_nontemporal_load(out + next);
    __builtin_amdgcn_s_cluster_barrier();
    out[y * width + x] = seen;
  } else {
    __builtin_amdgcn_s_cluster_barrier();
  }
}

// One workgroup of each cluster does not come to the barrier.
KERNEL WORKGROUP(32) __attribute__((cluster_dims(2, 1, 1))) void cluster_deadlock(int* out) {
  if (bid() == 0) __builtin_amdgcn_s_cluster_barrier();
  out[bid()] = 1;
}

typedef VEC(int, 4) row_t;
KERNEL WORKGROUP(32) void async_copies(int* in, int* out, int waits) {
  SHARED row_t lds[32];
  __builtin_amdgcn_global_load_async_to_lds_b128((__attribute__((address_space(1))) row_t*)(in + 4 * tid()),
                                                 (__attribute__((address_space(3))) row_t*)(lds + (31 - tid())), 0, 0);
  if (waits) __builtin_amdgcn_s_wait_asynccnt(0);
  asm volatile("" ::: "memory");
  *(row_t*)(out + 4 * tid()) = lds[tid()];
}
