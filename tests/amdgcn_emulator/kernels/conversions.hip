// SPDX-License-Identifier: MIT
// Stochastic rounding and conversions with a scale (gfx950); scalar functions and transposing loads (gfx1201).
#include "common.hpp"
typedef VEC(__bf16, 2) bf16x2;
typedef VEC(short, 2) shortx2;
typedef VEC(float, 2) floatx2;
#if defined(__gfx950__)
KERNEL WORKGROUP(64) void stochastic(const float* in, const u32* random, half2* f16, bf16x2* bf16, u32* small) {
  const int t = tid();
  f16[t] = __builtin_amdgcn_cvt_sr_f16_f32(__builtin_amdgcn_cvt_sr_f16_f32(half2{}, in[2 * t], random[t], 0),
                                           in[2 * t + 1], random[t], 1);
  bf16[t] = __builtin_amdgcn_cvt_sr_bf16_f32(__builtin_amdgcn_cvt_sr_bf16_f32(bf16x2{}, in[2 * t], random[t], 0),
                                             in[2 * t + 1], random[t], 1);
  const u32 fp8 = __builtin_amdgcn_cvt_sr_fp8_f32(in[2 * t], random[t], 0, 0);
  small[t] = __builtin_amdgcn_cvt_sr_bf8_f32(in[2 * t], random[t], fp8, 1);
}
// Four values of a lane to fp4 and to fp8, and back.
KERNEL WORKGROUP(64) void scaled(const float* in, float scale, u32* fp4, u32* fp8, float* from_fp4, float* from_fp8) {
  const int t = tid();
  const float* v = in + 4 * t;
  u32 four = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(0, v[0], v[1], scale, 1);
  four = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(four, v[2], v[3], scale, 2);
  shortx2 eight = __builtin_amdgcn_cvt_scalef32_pk_fp8_f32(shortx2{}, v[0], v[1], scale, false);
  eight = __builtin_amdgcn_cvt_scalef32_pk_fp8_f32(eight, v[2], v[3], scale, true);
  fp4[t] = four, fp8[t] = __builtin_bit_cast(u32, eight);
  const floatx2 a = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(four, scale, 1);
  const half2 b = __builtin_amdgcn_cvt_scalef32_pk_f16_fp4(four, scale, 2);
  from_fp4[4 * t] = a[0], from_fp4[4 * t + 1] = a[1], from_fp4[4 * t + 2] = b[0], from_fp4[4 * t + 3] = b[1];
  const floatx2 c = __builtin_amdgcn_cvt_scalef32_pk_f32_fp8(fp8[t], scale, false);
  const bf16x2 d = __builtin_amdgcn_cvt_scalef32_pk_bf16_fp8(fp8[t], scale, true);
  from_fp8[4 * t] = c[0], from_fp8[4 * t + 1] = c[1], from_fp8[4 * t + 2] = d[0], from_fp8[4 * t + 3] = d[1];
}
#elif defined(__gfx1201__)
KERNEL WORKGROUP(32) void scalar_functions(float* out, float x) {
  out[0] = __builtin_amdgcn_rcpf(x), out[1] = __builtin_amdgcn_exp2f(x), out[2] = __builtin_amdgcn_logf(x);
  out[3] = __builtin_amdgcn_sqrtf(x), out[4] = __builtin_amdgcn_rsqf(-__builtin_fabsf(-x) * -1.0f);
  out[5] = __builtin_amdgcn_rcph((half)x), out[6] = __builtin_amdgcn_sqrth((half)x);
}
KERNEL WORKGROUP(32) void transposing_load(const short8v* in, short8v* out) {
  out[tid()] = __builtin_amdgcn_global_load_tr_b128_v8i16((__attribute__((address_space(1))) short8v*)(in + tid()));
}
#endif
#if WAVE == 64
// 70 loads in flight: the counter holds 63, so the first seven have returned when the last is issued.
KERNEL WORKGROUP(64) void many_loads(const u32* in, u32* out) {
  u32 first, last;
  const u32* p = in + tid();
#define LOAD "global_load_dword %1, %2, off\n\t"
#define SEVEN LOAD LOAD LOAD LOAD LOAD LOAD LOAD
#define SEVENTY SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN SEVEN
  asm volatile("global_load_dword %0, %2, off offset:4\n\t" SEVENTY
               "s_waitcnt vmcnt(63)\n\tv_add_u32 %0, 1, %0\n\ts_waitcnt vmcnt(0)"
               : "=&v"(first), "=&v"(last)
               : "v"(p)
               : "memory");
  out[tid()] = first + last;
}
#endif
