// SPDX-License-Identifier: MIT
// No HIP headers: attributes and builtins only.
#pragma once
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device)) inline
#define SHARED __attribute__((shared))
#define WORKGROUP(n) __attribute__((amdgpu_flat_work_group_size(n, n)))
#if defined(__GFX11__) || defined(__GFX12__)
#define WAVE 32
#else
#define WAVE 64
#endif
typedef unsigned u32;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned long u64;
typedef _Float16 half;
#define VEC(T, n) __attribute__((ext_vector_type(n))) T
typedef VEC(half, 2) half2;
typedef VEC(half, 4) half4;
typedef VEC(half, 8) half8;
typedef VEC(half, 16) half16;
typedef VEC(short, 4) short4v;
typedef VEC(short, 8) short8v;
typedef VEC(short, 16) short16v;
typedef VEC(__bf16, 8) bf8v;
typedef VEC(float, 2) float2v;
typedef VEC(float, 4) float4v;
typedef VEC(float, 8) float8v;
typedef VEC(float, 16) float16v;
typedef VEC(int, 2) int2v;
typedef VEC(int, 4) int4v;
typedef VEC(int, 8) int8v;
typedef VEC(int, 16) int16v;
typedef VEC(u32, 4) u32x4;
DEVICE int tid() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE int bid() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE int lane() { return tid() % WAVE; }
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
