// SPDX-License-Identifier: MIT
// MFMA (gfx9). Sums run in ascending k in f32; hardware may round differently in the last bits.
#include "matrix_rows.hpp"

namespace emu::matrix {
namespace {
void mfma_f64(wave& w, const inst& i, const shape& s) {
  double a[4][16][4], b[4][16][4], d[4][16][16];
  const u32 regs = s.m * s.m * s.blocks / 64, neg = i.blgp | i.neg_lo;
  const auto get = [&](const operand& o, u32 k, u32 l) {
    if (o.kind == operand::vgpr)
      return as_f64(w.v(o.reg + 2 * k)[l] | static_cast<u64>(w.v(o.reg + 2 * k + 1)[l]) << 32);
    return as_f64(o.kind == operand::sgpr ? w.rs64(o) : const_bits(o, kind::f64));
  };
  const auto row_of = [&](u32 l, u32 r) { return s.m == 16 ? 4 * r + l / 16 : l / 16; };
  const auto block_of = [&](u32 l) { return s.m == 16 ? 0 : l / 4 % 4; };
  for (u32 l = 0; l < 64; ++l) {
    a[block_of(l)][l % s.m][l / 16] = get(i.src[0], 0, l) * (neg & 1 ? -1 : 1);
    b[block_of(l)][l % s.m][l / 16] = get(i.src[1], 0, l) * (neg & 2 ? -1 : 1);
  }
  for (u32 l = 0; l < 64; ++l)
    for (u32 r = 0; r < regs; ++r) {
      const u32 q = block_of(l), row = row_of(l, r), col = l % s.m;
      double c = get(i.src[2], r, l) * (neg & 4 ? -1 : 1);
      for (u32 k = 0; k < 4; ++k) c = std::fma(a[q][row][k], b[q][col][k], c);
      d[q][row][col] = c;
    }
  for (u32 l = 0; l < 64; ++l)
    for (u32 r = 0; r < regs; ++r) {
      const u64 x = bits(d[block_of(l)][row_of(l, r)][l % s.m]);
      w.v(i.dst[0].reg + 2 * r)[l] = static_cast<u32>(x), w.v(i.dst[0].reg + 2 * r + 1)[l] = static_cast<u32>(x >> 32);
    }
}
float e8m0(u32 x) {
  return x == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, static_cast<int>(x) - 127);
}

// CBSZ and ABID: one block of A serves several. BLGP: lanes of B are permuted.
EMU_INLINE void permute_lanes(const inst& i, const shape& s, u32 side, u32 kg, u32 per_lane, const element_rows& at,
                              elements& e) {
  if (s.f8f6f4 || !(side ? i.blgp != 0 : i.cbsz && s.blocks > 1)) return;
  const auto source_lane = [&](u32 l) -> u32 {
    if (!side) {
      const u32 g = l / s.m, blk = g / kg, several = 1u << i.cbsz;
      return (((blk & ~(several - 1)) + i.abid % several) * kg + g % kg) * s.m + l % s.m;
    }
    switch (i.blgp) {
      case 1: return l & 31;
      case 2: return 32 | (l & 31);
      case 3: return (l + 16) & 63;
      default: return 16 * (i.blgp - 4u) + (l & 15);
    }
  };
  for (u32 j = 0; j < per_lane; ++j) {
    float x[64];
    for (u32 l = 0; l < 64; ++l) x[l] = at.at(e, j, source_lane(l));
    for (u32 l = 0; l < 64; ++l) at.at(e, j, l) = x[l];
  }
}
// C, in the registers of D.
void load_accumulators(wave& w, const inst& i, const shape& s, u32 regs) {
  const operand& o = i.src[2];
  u32* const d = w.v(i.dst[0].reg);
  if (o.kind == operand::vgpr && o.reg != i.dst[0].reg)
    std::memmove(d, w.v(o.reg), regs * 64 * sizeof *d);
  else if (o.kind != operand::vgpr)
    for (u32 r = 0; r < regs; ++r)
      std::fill_n(d + 64 * r, 64, s.out == t_i32 ? static_cast<u32>(const_bits(o, kind::i32)) : source(w, o, r, 0));
}
void flush_accumulators(wave& w, const inst& i, u32 regs) {
  u32* const d = w.v(i.dst[0].reg);
  for (u32 n = 0; n < regs * 64; ++n) d[n] = bits(flush(as_f32(d[n])));
}
template <class Rows>
EMU_INLINE void add_integers(const Rows& r) {
  for (u32 n = 0; n < r.count; ++n)
    for (u32 g = 0; g < Rows::g; ++g) {
      const i32 x = static_cast<i32>(r.a[n * Rows::stride + Rows::step * g]);
      const float* b = r.b + n * Rows::stride + Rows::b_of(g);
      for (u32 j = 0; j < Rows::m; ++j) r.c[g * Rows::m + j] += static_cast<u32>(x * static_cast<i32>(b[j]));
    }
}
// Scales of 32 values of k each: of row (of A) or column (of B) l % M, values 32 * (l / M) and on, by lane.
struct scales {
  float a[64], b[64];
};
scales read_scales(wave& w, const inst& i) {
  const u32 hi = i.op_sel_hi == 0xff ? 0 : i.op_sel_hi, qa = (i.op_sel & 1) | (hi & 1) << 1,
            qb = (i.op_sel >> 1 & 1) | (hi >> 1 & 1) << 1;
  scales x;
  for (u32 l = 0; l < 64; ++l)
    x.a[l] = e8m0(source(w, i.src[3], 0, l) >> 8 * qa & 255), x.b[l] = e8m0(source(w, i.src[4], 0, l) >> 8 * qb & 255);
  return x;
}
// The row of the 64 / M rows in register r of D that lane 0 holds, and the block that it is of (M = 4: of all blocks).
template <u32 M>
EMU_INLINE u32 row_of(u32 r) {
  return M == 32 ? r % 16 / 4 * 8 + r % 4 : M == 16 ? r % 4 : r;
}
template <u32 M>
EMU_INLINE u32 block_of(u32 r) {
  return M == 32 ? r / 16 : M == 16 ? r / 4 : 0;
}
template <u32 M>
using register_rows = rows<M, 64 / M, 64, 4>;
// Adds sums of 32 values of k, scaled.
template <bool Avx2, u32 M>
EMU_INLINE void add_scaled(const elements* e, u32 k, u32* d, u32 regs, rounding how, const scales& x) {
  for (u32 q = 0; q < k / 32; ++q)
    for (u32 r = 0; r < regs; ++r) {
      alignas(64) u32 part[64] = {};
      accumulate<Avx2>(register_rows<M>{e[0][32 * q] + row_of<M>(r), e[1][32 * q], 32, part}, how);
      for (u32 l = 0; l < 64; ++l) {
        u32& to = d[64 * r + l];
        to = bits(as_f32(to) + as_f32(part[l]) * x.a[q * M + row_of<M>(r) + 4 * (l / M)] * x.b[q * M + l % M]);
      }
    }
}
// Lanes g * M to g * M + M - 1 of register r of D hold a row of M columns; a lane of a and b holds `per_lane` values of
// k, of 8-bit f8f6f4 operands in segments of 16.
template <u32 M, bool Avx2>
EMU_INLINE void mfma_shape(wave& w, const inst& i, const shape& s) {
  const u32 kg = 64 / M / s.blocks, per_lane = s.k / kg, regs = M * M * s.blocks / 64;
  const bool integer = s.out == t_i32, flush_denorm = w.gfx90a, fnuz = !w.gfx950 && !w.gfx90a;
  alignas(64) elements e[2];
  const auto segment = [&](type t) { return s.f8f6f4 && type_bits[t] == 8 ? 16 : per_lane; };
  element_rows at(M, kg, segment(s.a));
  for (u32 side = 0; side < 2; ++side) {
    if (side && segment(s.b) != at.segment) at = element_rows(M, kg, segment(s.b));
    unpack_operand<Avx2>(w, i.src[side], side ? s.b : s.a, fnuz && !s.f8f6f4, flush_denorm, per_lane, at, e[side]);
    permute_lanes(i, s, side, kg, per_lane, at, e[side]);
  }
  scales x;
  if (s.scaled) x = read_scales(w, i);
  load_accumulators(w, i, s, regs);
  if (flush_denorm && !integer) flush_accumulators(w, i, regs);
  const rounding how = rounding_of(s.a, s.b, {e[0][0], e[1][0], s.k, M * s.blocks, 64});
  u32* const d = w.v(i.dst[0].reg);
  if (s.scaled) return add_scaled<Avx2, M>(e, s.k, d, regs, how, x);
  for (u32 r = 0; r < regs; ++r) {
    const u32 block = block_of<M>(r) * M;
    const register_rows<M> row{e[0][0] + block + row_of<M>(r), e[1][0] + block, s.k, d + 64 * r};
    integer ? add_integers(row) : accumulate<Avx2>(row, how);
  }
  if (flush_denorm && !integer) flush_accumulators(w, i, regs);
}
}  // namespace

namespace {
template <bool Avx2>
void mfma_for(wave& w, const inst& i) {
  const shape s = unpack(i);
  if (s.a == t_f64)
    mfma_f64(w, i, s);
  else if (s.m == 32)
    mfma_shape<32, Avx2>(w, i, s);
  else if (s.m == 16)
    mfma_shape<16, Avx2>(w, i, s);
  else
    mfma_shape<4, Avx2>(w, i, s);
}
}  // namespace
handler mfma() { return has_avx2() ? fastest<&mfma_for<true>>() : &mfma_for<false>; }
}  // namespace emu::matrix
