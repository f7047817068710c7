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

// k of element j in lane group kq
u32 k_of(const shape& s, type t, u32 kq, u32 kg, u32 per_lane, u32 j) {
  return s.f8f6f4 && type_bits[t] == 8 ? kq * 16 + j / 16 * 16 * kg + j % 16 : kq * per_lane + j;
}

template <u32 M>
EMU_INLINE void integer_rows(const float* a, const float* b, float* c, u32 K) {
  for (u32 row = 0; row < M; ++row) {
    u32 o[M];
    std::memcpy(o, c + row * M, sizeof o);
    for (u32 k = 0; k < K; ++k) {
      const i32 av = static_cast<i32>(a[k * M + row]);
      for (u32 j = 0; j < M; ++j) o[j] += static_cast<u32>(av * static_cast<i32>(b[k * M + j]));
    }
    std::memcpy(c + row * M, o, sizeof o);
  }
}
// 32 values of k share a scale of the row and one of the column.
template <u32 M, bool Avx2>
EMU_INLINE void scaled_rows(const shape& s, const float* a, const float* b, float* c, const float (*sa)[M],
                            const float (*sb)[M]) {
  for (u32 q = 0; q < s.k / 32; ++q) {
    alignas(64) float part[M * M] = {};
    accumulate<M, Avx2>(s.a, s.b, a + 32 * q * M, b + 32 * q * M, part, 32);
    for (u32 row = 0; row < M; ++row)
      for (u32 j = 0; j < M; ++j) c[row * M + j] += part[row * M + j] * sa[q][row] * sb[q][j];
  }
}

template <u32 M, bool Avx2>
EMU_INLINE void mfma_shape(wave& w, const inst& i, const shape& s) {
  const u32 K = s.k, groups = 64 / M, kg = groups / s.blocks, per_lane = K / kg, regs = M * M * s.blocks / 64;
  const bool flush_denorm = w.gfx90a, integer = s.out == t_i32;
  const bool fnuz = !w.gfx950 && !w.gfx90a;
  alignas(64) elements e;
  alignas(64) float a[4096], b[4096], c[M * M * (64 / M)];  // a, b: [block][k][row or column]; c: [block][row][column]
  float sa[4][M], sb[4][M];
  for (int side = 0; side < 2; ++side) {
    unpack_operand(w, i.src[side], side ? s.b : s.a, fnuz && !s.f8f6f4, flush_denorm, per_lane, e);
    if (!s.f8f6f4 && (side ? i.blgp != 0 : i.cbsz && s.blocks > 1))
      for (u32 j = 0; j < per_lane; ++j) {
        float x[64];
        for (u32 l = 0; l < 64; ++l) {
          u32 from = l;
          if (!side) {  // one block of A serves several
            const u32 g = l / M, blk = g / kg;
            from = (((blk & ~((1u << i.cbsz) - 1)) + i.abid % (1u << i.cbsz)) * kg + g % kg) * M + l % M;
          } else {  // lanes of B permuted
            switch (i.blgp) {
              case 1: from = l & 31; break;
              case 2: from = 32 | (l & 31); break;
              case 3: from = (l + 16) & 63; break;
              default: from = 16 * (i.blgp - 4u) + (l & 15); break;
            }
          }
          x[l] = e[j][from];
        }
        std::memcpy(e[j], x, sizeof x);
      }
    float* m = side ? b : a;
    for (u32 g = 0; g < groups; ++g)
      for (u32 j = 0; j < per_lane; ++j)
        std::memcpy(m + (g / kg * K + k_of(s, side ? s.b : s.a, g % kg, kg, per_lane, j)) * M, &e[j][g * M], M * 4);
  }
  if (s.scaled) {  // lane l: row l % M, 32 values of k from 32 * (l / M)
    const u32 hi = i.op_sel_hi == 0xff ? 0 : i.op_sel_hi, qa = (i.op_sel & 1) | (hi & 1) << 1,
              qb = (i.op_sel >> 1 & 1) | (hi >> 1 & 1) << 1;
    for (u32 l = 0; l < 64; ++l)
      sa[l / M][l % M] = e8m0(source(w, i.src[3], 0, l) >> 8 * qa & 255),
                    sb[l / M][l % M] = e8m0(source(w, i.src[4], 0, l) >> 8 * qb & 255);
  }
  // Register r of the 64 / M lane groups holds whole rows of C / D.
  const auto row_at = [](u32 r, u32 g) {
    if (M == 32) return (r / 16 * M + 8 * (r % 16 / 4) + 4 * g + r % 4) * M;
    if (M == 16) return (r / 4 * M + 4 * g + r % 4) * M;
    return (g * M + r) * M;
  };
  for (u32 r = 0; r < regs; ++r) {
    u32 row[64];
    if (i.src[2].kind == operand::vgpr)
      std::memcpy(row, w.v(i.src[2].reg + r), sizeof row);
    else
      for (u32 l = 0; l < 64; ++l)
        row[l] = integer ? static_cast<u32>(const_bits(i.src[2], kind::i32)) : source(w, i.src[2], r, l);
    if (flush_denorm && !integer)
      for (u32& x : row) x = bits(flush(as_f32(x)));
    for (u32 g = 0; g < groups; ++g) std::memcpy(c + row_at(r, g), row + g * M, M * 4);
  }
  for (u32 blk = 0; blk < s.blocks; ++blk) {
    const float *ab = a + blk * K * M, *bb = b + blk * K * M;
    float* out = c + blk * M * M;
    if (integer)
      integer_rows<M>(ab, bb, out, K);
    else if (s.scaled)
      scaled_rows<M, Avx2>(s, ab, bb, out, sa, sb);
    else
      accumulate<M, Avx2>(s.a, s.b, ab, bb, out, K);
  }
  for (u32 r = 0; r < regs; ++r) {
    u32 row[64];
    for (u32 g = 0; g < groups; ++g) std::memcpy(row + g * M, c + row_at(r, g), M * 4);
    if (flush_denorm && !integer)
      for (u32& x : row) x = bits(flush(as_f32(x)));
    std::memcpy(w.v(i.dst[0].reg + r), row, sizeof row);
  }
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
