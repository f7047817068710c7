// SPDX-License-Identifier: MIT
// WMMA (gfx11, gfx12). Sums run in ascending k in f32; hardware may round differently in the last bits.
#include "matrix.hpp"

namespace emu::matrix {
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
}  // namespace emu::matrix
