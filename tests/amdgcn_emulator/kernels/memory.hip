// SPDX-License-Identifier: MIT
#include "common.hpp"
#if WAVE == 64
#define FLAGS 0x00027000
#else
#define FLAGS 0x31014000
#endif
// out[i] = in[i] inside of `bytes`, 0 outside; stores beyond the first 4080 bytes are dropped
KERNEL WORKGROUP(256) void edge(const u32* in, u32* out, int bytes) {
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc((void*)in, 0, bytes, FLAGS),
                         w = __builtin_amdgcn_make_buffer_rsrc((void*)out, 0, 4080, FLAGS);
  const int4v v = __builtin_amdgcn_raw_buffer_load_b128(r, tid() * 16, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b128(v, w, tid() * 16, 0, 0);
  const u16 h = __builtin_amdgcn_raw_buffer_load_b16(r, tid() * 2, 0, 0);
  out[1024 + tid()] = h;
}
__attribute__((device, noinline)) float weigh(float* p, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += p[i] * (i + 1);
  return s;
}
KERNEL WORKGROUP(256) void scratch(const float* in, float* out, int n) {
  float a[24];
  const int t = tid();
  for (int i = 0; i < 24; ++i) a[i] = in[(t + i * n) & 255];
  a[t * 7 % 24] += 1.f;
  out[t] = weigh(a, 24);
}
__attribute__((device, noinline)) void add_to(int* p, int v) { *p += v; }
KERNEL WORKGROUP(256) void flat(int* out, int sel) {  // generic pointers to LDS, scratch and memory
  SHARED static int l[256];
  const int t = tid();
  int mine[4] = {t, t + 1, t + 2, t + 3};
  l[t] = 10 * t;
  barrier();
  add_to(sel & 1 ? &l[255 - t] : &mine[sel >> 1 & 3], 5);
  barrier();
  add_to(&out[t], l[t] + mine[0] + mine[1] + mine[2] + mine[3]);
}
KERNEL WORKGROUP(256) void atomics(int* counters, float* total, const int* in, u64* wide) {
  SHARED static int histogram[16];
  SHARED static float sum;
  const int t = tid();
  if (t < 16) histogram[t] = 0;
  if (t == 0) sum = 0;
  barrier();
  __hip_atomic_fetch_add(&histogram[in[t] & 15], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __hip_atomic_fetch_add(&sum, 0.5f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  if (t < 16) __hip_atomic_fetch_add(&counters[t], histogram[t], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_max(&counters[16], in[t], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  const int old = __hip_atomic_fetch_add(&counters[17], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  counters[32 + old] = 1;
  if (t == 0) __hip_atomic_fetch_add(total, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_add(wide, (u64)in[t] << 32, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  int expected = t;
  __hip_atomic_compare_exchange_strong(&counters[18], &expected, t + 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
}
KERNEL WORKGROUP(256) void more_atomics(int* counters, half2* packed, int* dropped) {
  const int t = tid();
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc((void*)counters, 0, 64, FLAGS);
  dropped[t] = __builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(t, r, t % 32 * 4, 0, 0);  // 16 counters in range
#if defined(__gfx942__) || defined(__gfx950__) || defined(__GFX12__)
  SHARED static half2 l[1];
  if (t == 0) l[0] = half2{0, 0};
  barrier();
  __builtin_amdgcn_ds_atomic_fadd_v2f16((__attribute__((address_space(3))) half2*)l, half2{1, 0.5f});
  __builtin_amdgcn_global_atomic_fadd_v2f16((__attribute__((address_space(1))) half2*)packed, half2{0.25f, 2});
  barrier();
  if (t == 0) packed[1] = l[0];
#endif
}
KERNEL WORKGROUP(64) void handshake(int* flags, int* out) {  // workgroup 0 waits for workgroup 1
  if (bid() == 0) {
    while (__hip_atomic_load(flags, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
    out[tid()] = flags[1 + tid()];
  } else {
    flags[1 + tid()] = 7 * tid();
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    barrier();  // where a workgroup is two waves
    __hip_atomic_store(flags, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}
extern SHARED char dynamic[];
KERNEL void shapes(u8* out8, short* out16, int* out,
                   int n) {  // 3-D blocks, dynamic LDS, hidden arguments, narrow accesses
  const int x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(),
            z = __builtin_amdgcn_workitem_id_z();
  const int bx = __builtin_amdgcn_workgroup_size_x(), by = __builtin_amdgcn_workgroup_size_y();
  const int gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(),
            gz = __builtin_amdgcn_workgroup_id_z();
  const int i = x + bx * (y + by * z), g = gx + gy * 10 + gz * 100;
  dynamic[i] = (char)(i * 3 - g);
  barrier();
  const char v = dynamic[(i * 5 + 1) % n];
  const int o = i + n * (gx + 2 * (gy + 3 * gz));
  out8[o] = (u8)v, out16[o] = (short)(v * 9), out[o] = __builtin_amdgcn_grid_size_x() * 1000 + g;
}
// D16 loads and stores, 96- and 64-bit LDS accesses
KERNEL WORKGROUP(64) void widths(const half* in, half* out) {
  SHARED __attribute__((aligned(16))) static half l[64 * 8];
  const int t = tid();
  half4 a = {in[4 * t], in[4 * t + 1], in[4 * t + 2], in[4 * t + 3]};
  *(half4*)(l + 4 * t) = a;
  barrier();
  const half4 b = *(const half4*)(l + 4 * (63 - t));
  out[4 * t] = b[3], out[4 * t + 1] = b[2], out[4 * t + 2] = b[1], out[4 * t + 3] = b[0];
}
#if defined(__gfx942__) || defined(__gfx950__)
#define LDS_PTR(p) ((__attribute__((address_space(3))) void*)(p))
#define GLOBAL_PTR(p) ((__attribute__((address_space(1))) void*)(p))
KERNEL WORKGROUP(256) void dma(const u32* in, u32* out) {
  SHARED static u32 l[1024 + 64];
  const int t = tid(), w = __builtin_amdgcn_readfirstlane(t / 64);
  __builtin_amdgcn_global_load_lds(GLOBAL_PTR((u32*)in + (t ^ 5)), LDS_PTR(l + w * 64), 4, 0, 0);
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc((void*)in, 0, 1000, FLAGS);
  __builtin_amdgcn_raw_ptr_buffer_load_lds(r, LDS_PTR(l + 256 + w * 64), 4, (t * 4) ^ 32, 0, 256, 0);
  __builtin_amdgcn_s_waitcnt(0);
  barrier();
  out[t] = l[t], out[256 + t] = l[256 + 64 + t];
}
KERNEL WORKGROUP(64) void dma_unwaited(const u32* in, u32* out) {
  SHARED static volatile u32 l[64];
  int v;
  l[tid()] = 1;
  asm volatile("s_mov_b32 m0, 0\n\tglobal_load_lds_dword %1, off\n\tds_read_b32 %0, %2\n\ts_waitcnt lgkmcnt(0)"
               : "=&v"(v)
               : "v"(in), "v"(0)
               : "memory", "m0");
  out[tid()] = v + l[tid()];
}
#ifdef __OPTIMIZE__
// Two stages in flight, partial waits, data of another wave read after the barrier. Wait: how many loads may be
// outstanding.
template <int Wait>
DEVICE void pipeline(const u32* in, u32* out, int stages) {
  SHARED static u32 l[2 * 256];
  const int t = tid(), w = __builtin_amdgcn_readfirstlane(t / 64);
  const u32 base = (u32)(u64)(__attribute__((address_space(3))) u32*)l;
  const auto fetch = [&](int s) {
    const u32* p = in + s * 256 + t;
    const u32 to = __builtin_amdgcn_readfirstlane(base + (s % 2 * 256 + w * 64) * 4);
    asm volatile("s_mov_b32 m0, %1\n\tglobal_load_lds_dword %0, off" : : "v"(p), "s"(to) : "memory", "m0");
  };
  u32 sum = 0;
  fetch(0);
  for (int s = 0; s < stages; ++s) {
    if (s + 1 < stages)
      fetch(s + 1);
    else
      asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    asm volatile("s_waitcnt vmcnt(%0)\n\ts_barrier" : : "n"(Wait) : "memory");
    sum += l[s % 2 * 256 + (t + 64) % 256] * (s + 1);
    asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
  }
  out[t] = sum;
}
KERNEL WORKGROUP(256) void dma_pipeline(const u32* in, u32* out, int stages) { pipeline<1>(in, out, stages); }
KERNEL WORKGROUP(256) void dma_pipeline_wrong(const u32* in, u32* out, int stages) { pipeline<2>(in, out, stages); }
#endif
#endif
#if defined(__gfx950__)
KERNEL WORKGROUP(64) void transposing(const half* in, half* out, int lanes) {
  SHARED static half l[256];
  const int t = tid(), g = t / 16, s = t % 16;
  for (int j = 0; j < 4; ++j) l[t * 4 + j] = in[t * 4 + j];
  barrier();
  if (t >= lanes) return;
  const short4v v = __builtin_amdgcn_ds_read_tr16_b64_v4i16(
      (__attribute__((address_space(3))) short4v*)(l + (4 * g + s / 4) * 16 + 4 * (s % 4)));
  for (int j = 0; j < 4; ++j) ((short*)out)[t * 4 + j] = v[j];
}
KERNEL WORKGROUP(64) void dma16(const u32* in, u32* out) {
  SHARED __attribute__((aligned(16))) static u32 l[256];
  const int t = tid();
  __builtin_amdgcn_global_load_lds(GLOBAL_PTR((u32*)in + 4 * (63 - t)), LDS_PTR(l), 16, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  barrier();
  *(u32x4*)(out + 4 * t) = *(u32x4*)(l + 4 * t);
}
#endif
