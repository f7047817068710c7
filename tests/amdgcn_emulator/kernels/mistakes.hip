// SPDX-License-Identifier: MIT
// Mistakes that the emulator has to find.
#include "common.hpp"
KERNEL WORKGROUP(256) void no_barrier(int* out) {
  SHARED static int l[256];
  l[tid()] = tid();
  __builtin_amdgcn_wave_barrier();
  out[tid()] = l[(tid() + 64) & 255];
}
KERNEL WORKGROUP(256) void one_barrier(int* out) {  // the loop needs a second barrier
  SHARED static int l[256];
  int s = 0;
  for (int i = 0; i < 3; ++i) {
    l[tid()] = tid() + i;
    barrier();
    s += l[(tid() + 64) & 255];
  }
  out[tid()] = s;
}
KERNEL WORKGROUP(256) void unwaited_barrier(int* out) {  // a bare barrier does not wait for the LDS write
  SHARED static int l[256];
  const u32 a = (u32)(u64)(__attribute__((address_space(3))) int*)(l + tid()),
            b = (u32)(u64)(__attribute__((address_space(3))) int*)(l + (255 - tid()));
  int v;
#if defined(__GFX12__)
  asm volatile("ds_store_b32 %1, %2\n\ts_barrier_signal -1\n\ts_barrier_wait -1\n\tds_load_b32 %0, %3\n\ts_wait_dscnt 0"
               : "=v"(v)
               : "v"(a), "v"(tid()), "v"(b)
               : "memory");
#elif defined(__GFX11__)
  asm volatile("ds_store_b32 %1, %2\n\ts_barrier\n\tds_load_b32 %0, %3\n\ts_waitcnt lgkmcnt(0)"
               : "=v"(v)
               : "v"(a), "v"(tid()), "v"(b)
               : "memory");
#else
  asm volatile("ds_write_b32 %1, %2\n\ts_barrier\n\tds_read_b32 %0, %3\n\ts_waitcnt lgkmcnt(0)"
               : "=v"(v)
               : "v"(a), "v"(tid()), "v"(b)
               : "memory");
#endif
  out[tid()] = v + l[0] * 0;
}
KERNEL WORKGROUP(64) void no_wait(const int* in, int* out) {
  int v;
  const int* p = in + tid();
#if WAVE == 32
  asm volatile("global_load_b32 %0, %1, off\n\tv_add_nc_u32 %0, 1, %0" : "=&v"(v) : "v"(p) : "memory");
#else
  asm volatile("global_load_dword %0, %1, off\n\tv_add_u32 %0, 1, %0" : "=&v"(v) : "v"(p) : "memory");
#endif
  out[tid()] = v;
}
KERNEL WORKGROUP(64) void short_wait(const int* in, int* out) {  // waits for the first of two loads, uses the second
  int v, w;
  const int* p = in + tid();
#if defined(__GFX12__)
  asm volatile(
      "global_load_b32 %0, %2, off\n\tglobal_load_b32 %1, %2, off offset:4\n\ts_wait_loadcnt 1\n\tv_add_nc_u32 %0, 1, "
      "%0\n\tv_add_nc_u32 %1, 1, %1"
      : "=&v"(v), "=&v"(w)
      : "v"(p)
      : "memory");
#elif defined(__GFX11__)
  asm volatile(
      "global_load_b32 %0, %2, off\n\tglobal_load_b32 %1, %2, off offset:4\n\ts_waitcnt vmcnt(1)\n\tv_add_nc_u32 %0, "
      "1, %0\n\tv_add_nc_u32 %1, 1, %1"
      : "=&v"(v), "=&v"(w)
      : "v"(p)
      : "memory");
#else
  asm volatile(
      "global_load_dword %0, %2, off\n\tglobal_load_dword %1, %2, off offset:4\n\ts_waitcnt vmcnt(1)\n\tv_add_u32 %0, "
      "1, %0\n\tv_add_u32 %1, 1, %1"
      : "=&v"(v), "=&v"(w)
      : "v"(p)
      : "memory");
#endif
  out[tid()] = v + w;
}
KERNEL WORKGROUP(64) void out_of_bounds(int* out, int k) { out[tid() + k] = 1; }
KERNEL WORKGROUP(64) void lds_out_of_bounds(int* out, int k) {
  SHARED static int l[64];
  l[tid()] = 1;
  barrier();
  out[tid()] = l[tid() * k];
}
KERNEL WORKGROUP(256) void deadlock(int* out) {
  if (__builtin_amdgcn_readfirstlane(tid()) < WAVE) {
    out[0] = 1;
    return;
  }
  if (__builtin_amdgcn_readfirstlane(tid()) < 2 * WAVE)
    for (;;) __builtin_amdgcn_s_sleep(1);
  __builtin_amdgcn_s_barrier();
}
KERNEL WORKGROUP(64) void unknown(int* out) {
  asm volatile("s_ttracedata\n\ts_sendmsghalt sendmsg(MSG_INTERRUPT)");
  out[0] = 1;
}
// Pairs of a known value and one that is loaded from `unknown`; only the known halves are stored where `both` is 0.
KERNEL WORKGROUP(64) void moved_halves(const float* known, const float* unknown, float* out, int both) {
  float2v a = {known[tid()] * 2, unknown[tid()] * 2}, b = {unknown[tid()] * 3, known[tid()] * 3}, stored;
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
  if (both)
    asm volatile("v_pk_mov_b32 %0, %1, %2 op_sel:[1,0]" : "=v"(stored) : "v"(a), "v"(b));
  else
    asm volatile("v_pk_mov_b32 %0, %1, %2 op_sel:[0,1]" : "=v"(stored) : "v"(a), "v"(b));
#else
  stored = both ? float2v{a.y, b.x} : float2v{a.x, b.y};
#endif
  out[2 * tid()] = stored.x, out[2 * tid() + 1] = stored.y;
}
// The value that is loaded at k may be of no buffer; it is stored, but decides nothing else.
KERNEL WORKGROUP(64) void copy_from(const int* in, int* out, int k) { out[tid()] = in[tid() + k] + 1; }
