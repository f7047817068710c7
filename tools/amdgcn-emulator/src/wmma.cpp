// SPDX-License-Identifier: MIT
// WMMA (gfx11, gfx12). Sums run in ascending k in f32; hardware may round differently in the last bits.
#include "matrix_rows.hpp"

namespace emu::matrix {
namespace {
void require_repeats(const wave& w, const inst& i, u32 side, u32 regs) {
  for (u32 k = 0; k < regs; ++k) {
    const u32* r = const_cast<wave&>(w).v(i.src[side].reg + k);
    if (std::memcmp(r, r + 16, 16 * sizeof *r) == 0) continue;
    const auto lane = static_cast<int>(std::mismatch(r, r + 16, r + 16).second - r);
    w.die(i, "lanes 16-31 do not repeat the " + std::string(side ? "B" : "A") + " operand of lanes 0-15", lane);
  }
}
// An operand as [k][row or column]. In gfx12 lanes 16-31 hold the upper half of k, in gfx11 they repeat lanes 0-15.
template <bool Avx2>
EMU_INLINE void wmma_operand(wave& w, const inst& i, u32 side, const shape& s, type t, float (*m)[16]) {
  const bool g12 = w.fam == family::gfx12;
  const operand& o = i.src[side];
  const u32 n = g12 ? s.k / 2 : s.k;
  const auto negative = [&](u32 j) {
    return s.out != t_i32 && ((j & 1 && type_bits[s.a] == 16 ? i.neg_hi : i.neg_lo) >> side & 1);
  };
  if (!g12 && o.is_vgpr()) require_repeats(w, i, side, std::max(1u, n * type_bits[t] / 32));
  elements e;
  unpack_operand<Avx2>(w, o, t, false, false, n, {}, e);
  for (u32 j = 0; j < n; ++j) {
    if (negative(j)) each_lane(w, [&](u64 l) { e[j][l] = -e[j][l]; });
    std::memcpy(m[j], e[j], sizeof m[j]);
    if (g12) std::memcpy(m[n + j], e[j] + 16, sizeof m[j]);
  }
}
// Lanes 0-15 and 16-31 of register r hold two rows of C.
u32 row_of(const wave& w, u32 r, u32 half) { return w.fam == family::gfx12 ? 8 * half + r : 2 * r + half; }
// Of a 16-bit C: which half of which register.
struct half_of {
  u32 reg, shift;
};
half_of packed(const wave& w, const inst& i, u32 r) {
  if (w.fam == family::gfx12) return {r / 2, 16 * (r & 1)};
  return {r, 16u * (i.op_sel >> 2 & 1)};
}
// 16-bit elements of C, or one constant.
EMU_INLINE void load_row(wave& w, const inst& i, const shape& s, u32 r, float (&v)[32]) {
  const operand& o = i.src[2];
  const bool wide = type_bits[s.out] == 32, f16 = s.out == t_f16;
  if (o.kind == operand::vgpr && wide) {
    std::memcpy(v, w.v(o.reg + r), sizeof v);
  } else if (o.kind == operand::vgpr) {
    const half_of h = packed(w, i, r);
    const u32* c = w.v(o.reg + h.reg);
    each_lane(w, [&](u64 l) {
      const u16 x = static_cast<u16>(c[l] >> h.shift);
      v[l] = f16 ? f16_to_f32(x) : bf16_to_f32(x);
    });
  } else {
    const u32 x = static_cast<u32>(const_bits(o, s.out == t_i32 ? kind::i32
                                                 : wide         ? kind::f32
                                                 : f16          ? kind::f16
                                                                : kind::bf16));
    const float f = wide ? as_f32(x) : f16 ? f16_to_f32(static_cast<u16>(x)) : bf16_to_f32(static_cast<u16>(x));
    std::fill(std::begin(v), std::end(v), f);
  }
}
EMU_INLINE void load_c(wave& w, const inst& i, const shape& s, u32 (*c)[16], i64 (*ci)[16]) {
  for (u32 r = 0; r < 8; ++r) {
    float v[32];
    load_row(w, i, s, r, v);
    if (s.out == t_i32) {
      for (u32 l = 0; l < 32; ++l) ci[row_of(w, r, l / 16)][l % 16] = static_cast<i32>(bits(v[l]));
      continue;
    }
    if (i.neg_hi >> 2 & 1) each_lane(w, [&](u64 l) { v[l] = std::fabs(v[l]); });
    if (i.neg_lo >> 2 & 1) each_lane(w, [&](u64 l) { v[l] = -v[l]; });
    for (u32 half = 0; half < 2; ++half) std::memcpy(c[row_of(w, r, half)], v + 16 * half, sizeof c[0]);
  }
}
EMU_INLINE void store_c(wave& w, const inst& i, const shape& s, const u32 (*c)[16], const i64 (*ci)[16]) {
  for (u32 r = 0; r < 8; ++r) {
    const half_of h = packed(w, i, r);
    if (type_bits[s.out] == 16) {
      u32* d = w.v(i.dst[0].reg + h.reg);
      each_lane(w, [&](u64 l) {
        const float x = as_f32(c[row_of(w, r, l / 16)][l % 16]);
        const u32 y = s.out == t_f16 ? f32_to_f16(x) : f32_to_bf16(x);
        d[l] = (d[l] & ~(0xffffu << h.shift)) | y << h.shift;
      });
      continue;
    }
    u32* d = w.v(i.dst[0].reg + r);
    for (u32 half = 0; half < 2; ++half) {
      const u32 row = row_of(w, r, half);
      if (s.out == t_f32) std::memcpy(d + 16 * half, c[row], sizeof c[0]);
      for (u32 j = 0; j < 16 && s.out == t_i32; ++j)
        d[16 * half + j] = static_cast<u32>(i.clamp ? std::clamp<i64>(ci[row][j], INT32_MIN, INT32_MAX) : ci[row][j]);
    }
  }
}
template <bool Avx2>
void wmma_for(wave& w, const inst& i) {
  const shape s = unpack(i);
  if (w.lanes != 32) w.die(i, "WMMA in wave64 is not implemented");
  type ta = s.a, tb = s.b;
  if (s.out == t_i32)
    ta = i.neg_lo & 1 ? s.a : (s.a == t_i8 ? t_u8 : t_u4), tb = i.neg_lo & 2 ? s.b : (s.b == t_i8 ? t_u8 : t_u4);
  alignas(64) float a[32][16], b[32][16];
  alignas(64) u32 c[16][16];
  i64 ci[16][16];
  wmma_operand<Avx2>(w, i, 0, s, ta, a), wmma_operand<Avx2>(w, i, 1, s, tb, b);
  load_c(w, i, s, c, ci);
  if (s.out == t_i32) {
    for (u32 row = 0; row < 16; ++row)
      for (u32 k = 0; k < s.k; ++k)
        for (u32 j = 0; j < 16; ++j) ci[row][j] += static_cast<i32>(a[k][row]) * static_cast<i32>(b[k][j]);
  } else {
    const rounding how = rounding_of(ta, tb, {a[0], b[0], s.k, 16, 16});
    for (u32 row = 0; row < 16; row += 4) accumulate<Avx2>(rows<16, 4, 16, 1>{a[0] + row, b[0], s.k, c[row]}, how);
  }
  store_c(w, i, s, c, ci);
}
}  // namespace
handler wmma() { return has_avx2() ? fastest<&wmma_for<true>>() : &wmma_for<false>; }
}  // namespace emu::matrix
