// SPDX-License-Identifier: MIT
// MFMA (gfx9) and WMMA (gfx11, gfx12). Sums run in ascending k in f32; hardware may round differently in the last bits.
#include "valu.hpp"

namespace emu {
namespace {
enum type : u8 {
  t_f32,
  t_f16,
  t_bf16,
  t_i8,
  t_fp8,
  t_bf8,
  t_f64,
  t_xf32,
  t_fp6,
  t_bf6,
  t_fp4,
  t_u8,
  t_i4,
  t_u4,
  t_i32
};
constexpr u8 type_bits[] = {32, 16, 16, 8, 8, 8, 64, 32, 6, 6, 4, 8, 4, 4, 32};

struct shape {
  type a, b, out;
  u32 m, k, blocks;
  bool scaled, f8f6f4;
};
shape unpack(const inst& i) {
  shape s;
  s.a = static_cast<type>(i.x & 255), s.b = static_cast<type>(i.x >> 8 & 255),
  s.out = static_cast<type>(i.x >> 16 & 255);
  s.m = static_cast<u32>(i.y & 255), s.k = static_cast<u32>(i.y >> 8 & 0xffff), s.blocks = static_cast<u32>(i.z & 255);
  s.scaled = i.z >> 8 & 1, s.f8f6f4 = i.z >> 9 & 1;
  return s;
}
u32 source(wave& w, const operand& o, u32 k, u32 lane) {
  if (o.kind == operand::vgpr) return w.v(o.reg + k)[lane];
  return o.kind == operand::sgpr ? w.s[o.reg + (o.count > 1 ? k : 0)] : static_cast<u32>(const_bits(o, kind::f32));
}
const float* small_table(type t) {
  static float fp6[64], bf6[64], fp4[16];
  static const bool once = [] {
    for (u32 v = 0; v < 64; ++v) fp6[v] = small_to_f32(v, fp6_e2m3), bf6[v] = small_to_f32(v, bf6_e3m2);
    for (u32 v = 0; v < 16; ++v) fp4[v] = small_to_f32(v, fp4_e2m1);
    return true;
  }();
  (void)once;
  return t == t_fp6 ? fp6 : t == t_bf6 ? bf6 : fp4;
}
// Expands one lane's packed operand.
void expand(type t, bool fnuz, bool flush_denorm, const u32* d, u32 n, float* out) {
  switch (t) {
    case t_f16:
      for (u32 j = 0; j < n; ++j) {
        u16 h = static_cast<u16>(d[j / 2] >> 16 * (j & 1));
        if (flush_denorm && !(h & 0x7c00)) h &= 0x8000;
        out[j] = f16_to_f32(h);
      }
      return;
    case t_bf16:
      for (u32 j = 0; j < n; ++j) {
        u16 h = static_cast<u16>(d[j / 2] >> 16 * (j & 1));
        if (flush_denorm && !(h & 0x7f80)) h &= 0x8000;
        out[j] = bf16_to_f32(h);
      }
      return;
    case t_fp8:
    case t_bf8: {
      const float* tab = t == t_fp8 ? f8().fp8[fnuz] : f8().bf8[fnuz];
      for (u32 j = 0; j < n; ++j) out[j] = tab[d[j / 4] >> 8 * (j & 3) & 255];
      return;
    }
    case t_xf32:
      for (u32 j = 0; j < n; ++j) {
        const u32 u = d[j];
        out[j] = as_f32((u & 0x7f800000) == 0x7f800000 ? u : (u + 0xfff + (u >> 13 & 1)) & ~0x1fffu);
      }
      return;
    case t_fp6:
    case t_bf6:
    case t_fp4: {
      const float* tab = small_table(t);
      const u32 b = type_bits[t];
      for (u32 j = 0; j < n; ++j) {
        const u32 p = j * b, w = p / 32;
        const u64 x = d[w] | ((p + b - 1) / 32 != w ? static_cast<u64>(d[w + 1]) << 32 : 0);
        out[j] = tab[x >> p % 32 & ((1u << b) - 1)];
      }
      return;
    }
    case t_i8:
      for (u32 j = 0; j < n; ++j) out[j] = static_cast<float>(static_cast<i8>(d[j / 4] >> 8 * (j & 3)));
      return;
    case t_u8:
      for (u32 j = 0; j < n; ++j) out[j] = static_cast<float>(d[j / 4] >> 8 * (j & 3) & 255);
      return;
    case t_i4:
      for (u32 j = 0; j < n; ++j) out[j] = static_cast<float>(static_cast<i32>(d[j / 8] << (28 - 4 * (j & 7))) >> 28);
      return;
    case t_u4:
      for (u32 j = 0; j < n; ++j) out[j] = static_cast<float>(d[j / 8] >> 4 * (j & 7) & 15);
      return;
    default:
      for (u32 j = 0; j < n; ++j) out[j] = as_f32(d[j]);
      return;
  }
}
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

void wmma(wave& w, const inst& i) {
  const shape s = unpack(i);
  if (w.lanes != 32) w.die(i, "WMMA in wave64 is not implemented");
  const bool g12 = w.fam == family::gfx12, integer = s.out == t_i32;
  const u32 K = s.k, n = g12 ? K / 2 : K;
  type ta = s.a, tb = s.b;
  if (integer)
    ta = i.neg_lo & 1 ? s.a : (s.a == t_i8 ? t_u8 : t_u4), tb = i.neg_lo & 2 ? s.b : (s.b == t_i8 ? t_u8 : t_u4);
  float a[16][32], b[32][16], c[16][16], x[32];
  i64 ci[16][16];
  const u32 na = std::max(1u, n * type_bits[ta] / 32), nb = std::max(1u, n * type_bits[tb] / 32);
  const auto negate = [&](u32 src, u32 j) {
    return !integer && ((j & 1 && type_bits[ta] == 16 ? i.neg_hi : i.neg_lo) >> src & 1);
  };
  for (u32 l = 0; l < 32; ++l) {
    u32 d[9] = {};
    const u32 row = l % 16, k0 = g12 ? n * (l / 16) : 0;
    for (u32 k = 0; k < na; ++k) {
      d[k] = source(w, i.src[0], k, l);
      if (!g12 && l >= 16 && i.src[0].is_vgpr() && d[k] != w.v(i.src[0].reg + k)[l - 16])
        w.die(i, "lanes 16-31 do not repeat the A operand of lanes 0-15", static_cast<int>(l));
    }
    const bool fresh = g12 || l < 16;
    if (fresh) expand(ta, false, false, d, n, x);
    for (u32 j = 0; j < n && fresh; ++j) a[row][k0 + j] = negate(0, j) ? -x[j] : x[j];
    for (u32 k = 0; k < nb; ++k) {
      d[k] = source(w, i.src[1], k, l);
      if (!g12 && l >= 16 && i.src[1].is_vgpr() && d[k] != w.v(i.src[1].reg + k)[l - 16])
        w.die(i, "lanes 16-31 do not repeat the B operand of lanes 0-15", static_cast<int>(l));
    }
    if (fresh) expand(tb, false, false, d, n, x);
    for (u32 j = 0; j < n && fresh; ++j) b[k0 + j][row] = negate(1, j) ? -x[j] : x[j];
  }
  const bool wide = s.out == t_f32 || s.out == t_i32;
  const u32 half_sel = !wide && !g12 ? i.op_sel >> 2 & 1 : 0;  // gfx11: which half of each register
  const auto where = [&](u32 l, u32 r) { return std::pair<u32, u32>(g12 ? 8 * (l / 16) + r : 2 * r + l / 16, l % 16); };
  const auto value16 = [&](u16 h) { return s.out == t_f16 ? f16_to_f32(h) : bf16_to_f32(h); };
  const operand& oc = i.src[2];
  for (u32 l = 0; l < 32; ++l)
    for (u32 r = 0; r < 8; ++r) {
      const auto [row, col] = where(l, r);
      float v;
      if (wide) {
        const u32 u = oc.kind == operand::vgpr ? source(w, oc, r, l)
                                               : static_cast<u32>(const_bits(oc, integer ? kind::i32 : kind::f32));
        ci[row][col] = static_cast<i32>(u), v = as_f32(u);
      } else if (oc.kind == operand::vgpr) {
        v = value16(
            static_cast<u16>(g12 ? w.v(oc.reg + r / 2)[l] >> 16 * (r & 1) : w.v(oc.reg + r)[l] >> 16 * half_sel));
      } else {
        v = value16(static_cast<u16>(const_bits(oc, s.out == t_f16 ? kind::f16 : kind::bf16)));
      }
      if (!integer) {
        if (i.neg_hi >> 2 & 1) v = std::fabs(v);
        if (i.neg_lo >> 2 & 1) v = -v;
        c[row][col] = v;
      }
    }
  for (u32 row = 0; row < 16; ++row) {
    if (integer) {
      for (u32 k = 0; k < K; ++k)
        for (u32 j = 0; j < 16; ++j) ci[row][j] += static_cast<i32>(a[row][k]) * static_cast<i32>(b[k][j]);
      continue;
    }
    typedef float vec __attribute__((vector_size(32)));
    vec o[2], bv[2];
    std::memcpy(o, c[row], sizeof o);
    for (u32 k = 0; k < K; ++k) {
      std::memcpy(bv, b[k], sizeof bv);
      o[0] += a[row][k] * bv[0], o[1] += a[row][k] * bv[1];
    }
    std::memcpy(c[row], o, sizeof o);
  }
  for (u32 l = 0; l < 32; ++l)
    for (u32 r = 0; r < 8; ++r) {
      const auto [row, col] = where(l, r);
      if (integer) {
        w.v(i.dst[0].reg + r)[l] =
            static_cast<u32>(i.clamp ? std::clamp<i64>(ci[row][col], INT32_MIN, INT32_MAX) : ci[row][col]);
      } else if (wide) {
        w.v(i.dst[0].reg + r)[l] = bits(c[row][col]);
      } else {
        const u32 h = s.out == t_f16 ? f32_to_f16(c[row][col]) : f32_to_bf16(c[row][col]),
                  sh = 16 * (g12 ? r & 1 : half_sel);
        u32& d = w.v(i.dst[0].reg + (g12 ? r / 2 : r))[l];
        d = (d & ~(0xffffu << sh)) | h << sh;
      }
    }
}
bool type_of(const std::string& s, type& t) {
  static const struct {
    const char* n;
    type t;
  } names[] = {{"f32", t_f32}, {"f16", t_f16}, {"bf16", t_bf16}, {"bf16_1k", t_bf16}, {"i8", t_i8},     {"iu8", t_i8},
               {"iu4", t_i4},  {"fp8", t_fp8}, {"bf8", t_bf8},   {"f64", t_f64},      {"xf32", t_xf32}, {"i32", t_i32}};
  for (const auto& e : names)
    if (s == e.n) return t = e.t, true;
  return false;
}
}  // namespace

bool bind_matrix(inst& i, const code_object& co) {
  (void)co;
  std::string n = i.name;
  const bool is_wmma = n.rfind("v_wmma_", 0) == 0;
  n = n.substr(7);
  shape s{};
  if (n.rfind("scale_", 0) == 0) s.scaled = true, n = n.substr(6);
  const auto us = n.find('_');
  if (us == n.npos || !type_of(n.substr(0, us), s.out)) return false;
  n = n.substr(us + 1);
  u32 dims[3] = {};
  std::size_t p = 0;
  for (int k = 0; k < 3; ++k) {
    while (p < n.size() && n[p] >= '0' && n[p] <= '9') dims[k] = dims[k] * 10 + static_cast<u32>(n[p++] - '0');
    if (k < 2 && (p >= n.size() || n[p++] != 'x')) return false;
  }
  s.m = dims[0], s.k = dims[2];
  n = n.substr(p);
  if (!n.empty() && n[0] == '_') n = n.substr(1);
  if (auto b = n.find("b_"); b != n.npos && b > 0 && b < 3 && n[0] >= '0' && n[0] <= '9') n = n.substr(b + 2);
  if (n == "f8f6f4") {
    static constexpr type formats[] = {t_fp8, t_bf8, t_fp6, t_bf6, t_fp4};
    if (i.cbsz > 4 || i.blgp > 4) return false;
    s.a = formats[i.cbsz], s.b = formats[i.blgp], s.f8f6f4 = true;
  } else if (type_of(n, s.a)) {
    s.b = s.a;
  } else {
    const auto m = n.find('_');
    if (m == n.npos || !type_of(n.substr(0, m), s.a) || !type_of(n.substr(m + 1), s.b)) return false;
  }
  if (i.ops.size() < (s.scaled ? 6u : 4u)) throw std::runtime_error("too few operands");
  i.ndst = 1, i.dst[0] = i.ops[0];
  for (std::size_t k = 1; k < i.ops.size() && k < 7; ++k) i.src[i.nsrc++] = i.ops[k];
  s.blocks = is_wmma ? 1 : i.dst[0].count / (s.out == t_f64 ? 2u : 1u) * 64 / (s.m * s.m);
  if (!s.blocks) throw std::runtime_error("unexpected size of the destination");
  i.x = s.a | s.b << 8 | s.out << 16, i.y = static_cast<i32>(s.m | s.k << 8),
  i.z = static_cast<i32>(s.blocks | static_cast<u32>(s.scaled) << 8 | static_cast<u32>(s.f8f6f4) << 9);
  i.fn = is_wmma ? &wmma : &mfma;
  return true;
}
}  // namespace emu
