// SPDX-License-Identifier: MIT
// MFMA (gfx9). Sums run in ascending k in f32; hardware may round differently in the last bits.
#include "matrix.hpp"

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

// Element j of the operand in all 64 lanes: e[j][lane].
using elements = float[64][64];
void unpack_operand(wave& w, const inst& i, const operand& o, type t, u32 per_lane, elements& e) {
  const bool fnuz = !w.gfx950 && !w.gfx90a, flush_denorm = w.gfx90a;
  const u32 regs = (per_lane * type_bits[t] + 31) / 32;
  (void)i;
  if (o.kind == operand::vgpr && (t == t_f16 || t == t_bf16)) {
    const u32 exponent = t == t_f16 ? 0x7c00 : 0x7f80;
    u32 flushed[64];
    for (u32 k = 0; k < regs; ++k) {
      const u32* r = w.v(o.reg + k);
      if (flush_denorm) {
        for (u32 l = 0; l < 64; ++l)
          flushed[l] = r[l] & (r[l] & exponent ? ~0u : 0xffff8000u) & (r[l] & exponent << 16 ? ~0u : 0x8000ffffu);
        r = flushed;
      }
      if (t == t_f16)
        for (u32 l = 0; l < 64; ++l)
          e[2 * k][l] = f16_to_f32(static_cast<u16>(r[l])), e[2 * k + 1][l] = f16_to_f32(static_cast<u16>(r[l] >> 16));
      else
        for (u32 l = 0; l < 64; ++l) e[2 * k][l] = as_f32(r[l] << 16), e[2 * k + 1][l] = as_f32(r[l] & 0xffff0000u);
    }
    return;
  }
  float x[64];
  for (u32 l = 0; l < 64; ++l) {
    u32 d[9] = {};
    for (u32 k = 0; k < regs; ++k) d[k] = source(w, o, k, l);
    expand(t, fnuz && !(i.z >> 9 & 1), flush_denorm, d, per_lane, x);
    for (u32 j = 0; j < per_lane; ++j) e[j][l] = x[j];
  }
}
// k of element j in lane group kq
u32 k_of(const shape& s, type t, u32 kq, u32 kg, u32 per_lane, u32 j) {
  return s.f8f6f4 && type_bits[t] == 8 ? kq * 16 + j / 16 * 16 * kg + j % 16 : kq * per_lane + j;
}

template <u32 M>
void mfma_shape(wave& w, const inst& i, const shape& s) {
  const u32 K = s.k, groups = 64 / M, kg = groups / s.blocks, per_lane = K / kg, regs = M * M * s.blocks / 64;
  const bool flush_denorm = w.gfx90a, integer = s.out == t_i32;
  typedef float vec __attribute__((vector_size(M == 4 ? 16 : 32)));
  constexpr u32 N = M * 4 / sizeof(vec);
  alignas(64) elements e;
  alignas(64) float a[4096], b[4096], c[M * M * (64 / M)];  // a, b: [block][k][row or column]; c: [block][row][column]
  float sa[4][M], sb[4][M];
  for (int side = 0; side < 2; ++side) {
    unpack_operand(w, i, i.src[side], side ? s.b : s.a, per_lane, e);
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
  for (u32 blk = 0; blk < s.blocks; ++blk)
    for (u32 row = 0; row < M; ++row) {
      const float *ar = a + blk * K * M + row, *bk = b + blk * K * M;
      float* out = c + (blk * M + row) * M;
      if (integer) {
        u32 o[M];
        std::memcpy(o, out, sizeof o);
        for (u32 k = 0; k < K; ++k) {
          const i32 av = static_cast<i32>(ar[k * M]);
          for (u32 j = 0; j < M; ++j) o[j] += static_cast<u32>(av * static_cast<i32>(bk[k * M + j]));
        }
        std::memcpy(out, o, sizeof o);
        continue;
      }
      vec o[N], part[N];
      std::memcpy(o, out, sizeof o);
      const auto b_at = [&](u32 k, u32 n) {
        vec v;
        std::memcpy(&v, bk + k * M + n * (M / N), sizeof v);
        return v;
      };
      if (s.scaled) {
        for (u32 q = 0; q < K / 32; ++q) {
          for (vec& p : part) p = vec{};
          for (u32 k = 32 * q; k < 32 * q + 32; ++k)
            for (u32 n = 0; n < N; ++n) part[n] += ar[k * M] * b_at(k, n);
          for (u32 j = 0; j < M; ++j)
            o[j / (M / N)][j % (M / N)] += part[j / (M / N)][j % (M / N)] * sa[q][row] * sb[q][j];
        }
      } else if (s.a == t_f32) {
        for (u32 k = 0; k < K; ++k)
          for (u32 j = 0; j < M; ++j)
            o[j / (M / N)][j % (M / N)] = std::fma(ar[k * M], bk[k * M + j], o[j / (M / N)][j % (M / N)]);
      } else {
        for (u32 k = 0; k < K; ++k)
          for (u32 n = 0; n < N; ++n) o[n] += ar[k * M] * b_at(k, n);
      }
      std::memcpy(out, o, sizeof o);
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

void mfma(wave& w, const inst& i) {
  const shape s = unpack(i);
  if (s.a == t_f64)
    mfma_f64(w, i, s);
  else if (s.m == 32)
    mfma_shape<32>(w, i, s);
  else if (s.m == 16)
    mfma_shape<16>(w, i, s);
  else
    mfma_shape<4>(w, i, s);
}
}  // namespace emu::matrix
