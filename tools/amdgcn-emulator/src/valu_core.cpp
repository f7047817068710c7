// SPDX-License-Identifier: MIT
// Operand fetch (modifiers, DPP, SDWA, true16) and write-back of vector instructions.
#include "valu.hpp"

namespace emu {
namespace {
// Source lane of lane l, or -1.
int dpp_lane(const wave& w, const inst& i, u32 l) {
  const u32 d = i.dpp_ctrl, n = d & 15, p = l & 15, row = l & ~15u, ws = w.lanes;
  if (d == 0xfff) return static_cast<int>((l & ~7u) | (i.dpp8 >> 3 * (l & 7) & 7));
  if (d < 0x100) return static_cast<int>((l & ~3u) | (d >> 2 * (l & 3) & 3));
  if (d < 0x110) return p + n < 16 ? static_cast<int>(l + n) : -1;
  if (d < 0x120) return p >= n ? static_cast<int>(l - n) : -1;
  if (d < 0x130) return static_cast<int>(row | ((p - n) & 15));
  switch (d) {
    case 0x130: return l + 1 < ws ? static_cast<int>(l + 1) : -1;
    case 0x134: return static_cast<int>((l + 1) % ws);
    case 0x138: return l ? static_cast<int>(l - 1) : -1;
    case 0x13c: return static_cast<int>((l + ws - 1) % ws);
    case 0x140: return static_cast<int>(row | (15 - p));
    case 0x141: return static_cast<int>((l & ~7u) | (7 - (l & 7)));
    case 0x142: return l >= 16 ? static_cast<int>(row - 1) : -1;
    case 0x143: return l >= 32 ? static_cast<int>((l & ~31u) - 1) : -1;
  }
  if (d < 0x160) return static_cast<int>(row | n);
  return static_cast<int>(row | (p ^ n));
}
bool dpp_valid(const wave& w, const inst& i, int s, u64 exec) {
  (void)w;
  return s >= 0 && (i.fi || (exec >> s & 1));
}
}  // namespace

u64 active_by_dpp(wave& w, const inst& i) {
  const u64 e = w.exec();
  u64 m = 0;
  for (u32 l = 0; l < w.lanes; ++l) {
    if (!(e >> l & 1) || !(i.row_mask >> l / 16 & 1) || !(i.bank_mask >> l % 16 / 4 & 1)) continue;
    if (i.dpp_ctrl == 0xfff || i.bound_ctrl || dpp_valid(w, i, dpp_lane(w, i, l), e)) m |= 1ull << l;
  }
  return m;
}

u64 const_bits(const operand& o, kind t) {
  if (o.kind == operand::fconst) {
    switch (t) {
      case kind::f16: return f64_to_f16(o.value);
      case kind::bf16: return f32_to_bf16(static_cast<float>(o.value));
      case kind::i64:
      case kind::f64: return bits(o.value);
      case kind::i16: return f64_to_f16(o.value);
      default: return bits(static_cast<float>(o.value));
    }
  }
  if (o.kind == operand::literal && t == kind::f64 && !(o.bits >> 32)) return o.bits << 32;
  return o.bits;
}

void fetch_modified(wave& w, const inst& i, int k, kind t, row& r) {
  const operand& o = i.src[k];
  const bool wide = t == kind::i64 || t == kind::f64, narrow = t == kind::i16 || t == kind::f16 || t == kind::bf16;
  const u32 n = w.lanes;
  const bool sel_hi = narrow && (o.half == 2 || (i.op_sel >> k & 1));
  if (o.kind == operand::vgpr) {
    u32 reg = o.reg;
    if (w.gpr_idx && (w.gpr_idx >> k & 1)) reg += w.s[s_m0] & 255;
    r.lo = w.v(reg);
    r.hi = wide ? w.v(reg + 1) : r.lo;
    if (i.dpp && k == 0) {
      const u64 e = w.exec();
      for (u32 l = 0; l < n; ++l) {
        const int s = dpp_lane(w, i, l);
        const bool ok = dpp_valid(w, i, s, e);
        r.tlo[l] = ok ? r.lo[s] : 0;
        if (wide) r.thi[l] = ok ? r.hi[s] : 0;
      }
      r.lo = r.tlo, r.hi = wide ? r.thi : r.tlo;
    }
  } else {
    u64 x;
    if (o.kind == operand::sgpr)
      x = wide ? w.rs64(o) : w.rs32(o);
    else
      x = const_bits(o, t);
    const u32 a = static_cast<u32>(x), b = static_cast<u32>(x >> 32);
    for (u32 l = 0; l < n; ++l) r.tlo[l] = a;
    if (wide)
      for (u32 l = 0; l < n; ++l) r.thi[l] = b;
    r.lo = r.tlo, r.hi = wide ? r.thi : r.tlo;
  }
  const auto rewrite = [&](auto f) {
    for (u32 l = 0; l < n; ++l) r.tlo[l] = f(r.lo[l]);
    r.lo = r.tlo;
  };
  if (sel_hi) rewrite([](u32 x) { return x >> 16; });
  if (i.sdwa && k < 2) {
    const u8 s = k ? i.sel1 : i.sel0;
    if (s < 4) {
      if (o.sext)
        rewrite([s](u32 x) { return static_cast<u32>(static_cast<i32>(static_cast<i8>(x >> 8 * s))); });
      else
        rewrite([s](u32 x) { return x >> 8 * s & 255; });
    } else if (s < 6) {
      const u32 sh = s == 5 ? 16 : 0;
      if (o.sext)
        rewrite([sh](u32 x) { return static_cast<u32>(static_cast<i32>(static_cast<i16>(x >> sh))); });
      else
        rewrite([sh](u32 x) { return x >> sh & 0xffff; });
    }
  }
  if (o.abs || o.neg) {
    const u32 sign = narrow ? 0x8000u : 0x80000000u, keep = o.abs ? ~sign : ~0u, flip = o.neg ? sign : 0;
    if (wide) {
      for (u32 l = 0; l < n; ++l) r.thi[l] = (r.hi[l] & keep) ^ flip;
      r.hi = r.thi;
    } else {
      rewrite([=](u32 x) { return (x & keep) ^ flip; });
    }
  }
  if (t == kind::f32 && i.is_float && w.flush_f32_in()) rewrite([](u32 x) { return bits(flush(as_f32(x))); });
}

// SDWA: the result goes to a part of the register.
void store_part(wave& w, const inst& i, const operand& d, const u32* x, u64 lanes) {
  u32* p = w.v(d.reg);
  const u32 sh = i.dst_sel < 4    ? 8u * i.dst_sel
                 : i.dst_sel == 5 ? 16
                                  : 0,
            width = i.dst_sel < 4 ? 8 : 16, mask = (1u << width) - 1;
  for (u64 m = lanes; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const u32 v = (x[l] & mask) << sh;
    if (i.dst_unused == 2)
      p[l] = (p[l] & ~(mask << sh)) | v;
    else if (i.dst_unused == 1)
      p[l] = static_cast<u32>(static_cast<i32>(v << (32 - width - sh)) >> (32 - width - sh));
    else
      p[l] = v;
  }
}

}  // namespace emu
