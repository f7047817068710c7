// SPDX-License-Identifier: MIT
#include "common.hpp"
KERNEL void saxpy(const float* x, const float* y, float* z, int n, float a) {
  const int i = bid() * __builtin_amdgcn_workgroup_size_x() + tid();
  if (i < n) z[i] = a * x[i] + y[i];
}
// 64 x 64 tiles of 16-bit elements through LDS, four waves (eight on wave32)
KERNEL WORKGROUP(256) void transpose(const half* in, half* out, int ld) {
  SHARED static half tile[64][66];
  const int bx = __builtin_amdgcn_workgroup_id_x() * 64, by = __builtin_amdgcn_workgroup_id_y() * 64, t = tid();
  for (int i = t; i < 64 * 16; i += 256) {
    const half4 v = *(const half4*)(in + (long)(by + i / 16) * ld + bx + i % 16 * 4);
    for (int j = 0; j < 4; ++j) tile[i / 16][i % 16 * 4 + j] = v[j];
  }
  barrier();
  for (int i = t; i < 64 * 16; i += 256) {
    half4 v;
    for (int j = 0; j < 4; ++j) v[j] = tile[i % 16 * 4 + j][i / 16];
    *(half4*)(out + (long)(bx + i / 16) * ld + by + i % 16 * 4) = v;
  }
}
DEVICE int dpp_sum(int x) {  // sum of a row of 16 in its last lane
  x += __builtin_amdgcn_update_dpp(0, x, 0x111, 0xf, 0xf, true);
  x += __builtin_amdgcn_update_dpp(0, x, 0x112, 0xf, 0xf, true);
  x += __builtin_amdgcn_update_dpp(0, x, 0x114, 0xf, 0xf, true);
  x += __builtin_amdgcn_update_dpp(0, x, 0x118, 0xf, 0xf, true);
  return x;
}
// out[0..]: sum of every wave by DPP and readlane; out[16..]: by bpermute butterflies; out[32..]: ballot counts
KERNEL WORKGROUP(256) void reduce(const int* in, int* out) {
  const int t = tid(), w = t / WAVE, l = lane(), v = in[t];
  const int r = dpp_sum(v);
  int s = __builtin_amdgcn_readlane(r, 15) + __builtin_amdgcn_readlane(r, 31);
  if (WAVE == 64) s += __builtin_amdgcn_readlane(r, 47) + __builtin_amdgcn_readlane(r, 63);
  int b = v;
  for (int m = 1; m < WAVE; m *= 2) b += __builtin_amdgcn_ds_bpermute(4 * (l ^ m), b);
#if WAVE == 32
  const u64 ballot = __builtin_amdgcn_ballot_w32(v & 1);
  const int below = __builtin_amdgcn_mbcnt_lo((u32)ballot, 0);
#else
  const u64 ballot = __builtin_amdgcn_ballot_w64(v & 1);
  const int below = __builtin_amdgcn_mbcnt_hi((u32)(ballot >> 32), __builtin_amdgcn_mbcnt_lo((u32)ballot, 0));
#endif
  if (l == 0) out[w] = s, out[16 + w] = b, out[32 + w] = __builtin_popcountl(ballot);
  out[64 + t] = below;
  out[320 + t] = __builtin_amdgcn_ds_swizzle(v, 0x401f) + __builtin_amdgcn_update_dpp(v, v, 0x1b, 0xf, 0xf, false) +
                 __builtin_amdgcn_readfirstlane(v);
}
// Conflicts known in advance: with stride 32 every lane of a phase reads the same bank.
KERNEL WORKGROUP(WAVE) void conflicts(int* out, int stride) {
  SHARED static int l[64 * 32];
  const int t = tid();
  for (int i = t; i < 64 * 32; i += WAVE) l[i] = i;
  barrier();
  asm volatile("" ::: "memory");
  out[t] = l[t * stride];
}
