// SPDX-License-Identifier: MIT
// Packed (VOP3P) arithmetic, mixed-precision FMA and dot products.
#include "valu.hpp"

namespace emu {
namespace {
void fetch_permuted(wave& w, const inst& i, row& r) {
  inst plain_copy = i;
  plain_copy.op_sel = 0;
  fetch_modified(w, plain_copy, 0, kind::i32, r);
}
// Raw operand of a packed instruction. Constants: a 16-bit float constant sits in the low half only.
EMU_INLINE void fetch_raw(wave& w, const inst& i, int k, kind t, row& r) {
  const operand& o = i.src[k];
  if (o.kind == operand::vgpr) {
    r.lo = w.v(o.reg), r.hi = w.v(o.reg + (o.count > 1));
    if (i.dpp && k == 0) fetch_permuted(w, i, r);
    return;
  }
  u64 x = o.kind == operand::sgpr ? w.rs64(o) : const_bits(o, t);
  if (o.kind == operand::sgpr && o.count == 1) x = w.rs32(o);
  for (u32 l = 0; l < 64; ++l) r.tlo[l] = static_cast<u32>(x), r.thi[l] = static_cast<u32>(x >> 32);
  r.lo = r.tlo, r.hi = r.thi;
}
u32 pick(u32 x, bool hi) { return hi ? x >> 16 : x & 0xffff; }

// One half of the result of a packed 16-bit instruction.
template <class T, int N, class F>
EMU_INLINE u32 half_result(const u16* x, bool clamp) {
  if constexpr (is_fp<T>) {
    const auto f = [](u16 b) { return std::is_same_v<T, half> ? f16_to_f32(b) : bf16_to_f32(b); };
    const auto narrow = [](float q) -> u32 { return std::is_same_v<T, half> ? f32_to_f16(q) : f32_to_bf16(q); };
    if constexpr (N == 2) {
      float d = F{}(f(x[0]), f(x[1]));
      if (clamp) d = d > 0 ? std::min(d, 1.0f) : 0;
      return narrow(d);
    } else {
      double d = F{}(f(x[0]), f(x[1]), f(x[2]));
      if (clamp) d = d > 0 ? std::min(d, 1.0) : 0;
      return narrow(f64_to_f32_odd(d));
    }
  } else {
    i32 d;
    if constexpr (N == 2)
      d = F{}(static_cast<T>(x[0]), static_cast<T>(x[1]));
    else
      d = F{}(static_cast<T>(x[0]), static_cast<T>(x[1]), static_cast<T>(x[2]));
    if (clamp) d = std::clamp<i32>(d, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    return static_cast<u16>(d);
  }
}
template <class T, int N, class F>
void packed16(wave& w, const inst& i) {
  row r[3];
  for (int k = 0; k < N; ++k)
    fetch_raw(w, i, k, std::is_same_v<T, half> ? kind::f16 : std::is_same_v<T, bhalf> ? kind::bf16 : kind::i32, r[k]);
  u32 out[2][64];
  const bool clamp = i.clamp;
  for (int h = 0; h < 2; ++h) {
    const u32 sel = h ? i.op_sel_hi : i.op_sel, neg = is_fp<T> ? (h ? i.neg_hi : i.neg_lo) : 0;
    u32 shift[N], flip[N];
    for (u32 k = 0; k < N; ++k) shift[k] = sel >> k & 1 ? 16 : 0, flip[k] = neg >> k & 1 ? 0x8000 : 0;
    each_lane(w, [&](u64 l) {
      u16 x[N];
      for (int k = 0; k < N; ++k) x[k] = static_cast<u16>(r[k].lo[l] >> shift[k] ^ flip[k]);
      out[h][l] = half_result<T, N, F>(x, clamp);
    });
  }
  each_lane(w, [&](u64 l) { out[0][l] |= out[1][l] << 16; });
  store32(w, i, i.dst[0], out[0], active(w, i));
}
template <int N, class F>
void packed32(wave& w, const inst& i) {
  row r[3];
  for (int k = 0; k < N; ++k) fetch_raw(w, i, k, kind::f32, r[k]);
  u32 out[2][64];
  for (int h = 0; h < 2; ++h) {
    const u32 sel = h ? i.op_sel_hi : i.op_sel, neg = h ? i.neg_hi : i.neg_lo;
    const u32* x[N];
    u32 flip[N];
    for (u32 k = 0; k < N; ++k) x[k] = sel >> k & 1 ? r[k].hi : r[k].lo, flip[k] = neg >> k & 1 ? 0x80000000u : 0;
    const auto value = [&](int k, u32 l) { return as_f32(x[k][l] ^ flip[k]); };
    each_lane(w, [&](u64 l) {
      if constexpr (N == 2)
        out[h][l] = bits(F{}(value(0, l), value(1, l)));
      else
        out[h][l] = bits(F{}(value(0, l), value(1, l), value(2, l)));
    });
    if (i.clamp)
      each_lane(w, [&](u64 l) { out[h][l] = bits(as_f32(out[h][l]) > 0 ? std::min(as_f32(out[h][l]), 1.0f) : 0); });
  }
  store64(w, i, i.dst[0], out[0], out[1], active(w, i));
}
void pk_mov(wave& w, const inst& i) {
  row a, b;
  fetch_raw(w, i, 0, kind::i32, a), fetch_raw(w, i, 1, kind::i32, b);
  u32 lo[64], hi[64];
  each_lane(w, [&](u64 l) { lo[l] = i.op_sel & 1 ? a.hi[l] : a.lo[l], hi[l] = i.op_sel & 2 ? b.hi[l] : b.lo[l]; });
  store64(w, i, i.dst[0], lo, hi, active(w, i));
}
// v_fma_mix: op_sel_hi says that a source is f16, op_sel which half. x: 0 f32, 1 low half, 2 high half.
template <bool Bf>
void fma_mix(wave& w, const inst& i) {
  row r[3];
  u32 x[3][64], out[64];  // floats
  const u32 is16 = i.op_sel_hi == 0xff ? 0 : i.op_sel_hi;
  for (int k = 0; k < 3; ++k) {
    fetch_raw(w, i, k, is16 >> k & 1 ? (Bf ? kind::bf16 : kind::f16) : kind::f32, r[k]);
    const u32 shift = i.op_sel >> k & 1 ? 16 : 0, keep = i.src[k].abs ? 0x7fffffff : ~0u,
              flip = i.src[k].neg ? 0x80000000u : 0, *in = r[k].lo;
    const auto wide = [](u32 h) {
      return bits(Bf ? bf16_to_f32(static_cast<u16>(h)) : f16_to_f32(static_cast<u16>(h)));
    };
    if (is16 >> k & 1)
      each_lane(w, [&](u64 l) { x[k][l] = (wide(in[l] >> shift) & keep) ^ flip; });
    else
      each_lane(w, [&](u64 l) { x[k][l] = (in[l] & keep) ^ flip; });
  }
  const bool clamp = i.clamp;
  if (i.x == 0) {
    each_lane(w, [&](u64 l) { out[l] = bits(std::fma(as_f32(x[0][l]), as_f32(x[1][l]), as_f32(x[2][l]))); });
    if (clamp) each_lane(w, [&](u64 l) { out[l] = bits(as_f32(out[l]) > 0 ? std::min(as_f32(out[l]), 1.0f) : 0); });
  } else {
    const u32 shift = i.x == 1 ? 0 : 16, keep = 0xffff0000u >> shift, *old = w.v(i.dst[0].reg);
    each_lane(w, [&](u64 l) {
      const auto wide = [&](int k) { return static_cast<double>(as_f32(x[k][l])); };
      double d = std::fma(wide(0), wide(1), wide(2));
      if (clamp) d = d > 0 ? std::min(d, 1.0) : 0;
      const u32 h = Bf ? f32_to_bf16(f64_to_f32_odd(d)) : f64_to_f16(d);
      out[l] = (old[l] & keep) | h << shift;
    });
  }
  store32(w, i, i.dst[0], out, active(w, i));
}
// Dot products. x: element kind.
enum dot { f16_2, bf16_2, i8_4, u8_4, iu8_4, i4_8, u4_8, iu4_8, i16_2, u16_2, fp8 };
void dot_product(wave& w, const inst& i) {
  row r[3];
  for (int k = 0; k < 3; ++k)
    fetch_raw(w, i, k,
              i.x == f16_2 && k < 2    ? kind::f16
              : i.x == bf16_2 && k < 2 ? kind::bf16
              : k == 2 && i.is_float   ? kind::f32
                                       : kind::i32,
              r[k]);
  u32 out[64];
  const int width = i.x == i8_4 || i.x == u8_4 || i.x == iu8_4 ? 8 : i.x == i16_2 || i.x == u16_2 ? 16 : 4;
  for (u32 l = 0; l < w.lanes; ++l) {
    const u32 a = r[0].lo[l], b = r[1].lo[l], c = r[2].lo[l];
    if (i.x == f16_2 || i.x == bf16_2) {
      float acc = as_f32(c);
      if (i.src[2].neg || (i.neg_lo >> 2 & 1)) acc = -acc;
      double s = acc;
      for (int h = 0; h < 2; ++h) {
        const u8 sel = h ? i.op_sel_hi : i.op_sel, neg = h ? i.neg_hi : i.neg_lo;
        u16 x = static_cast<u16>(pick(a, sel & 1)), y = static_cast<u16>(pick(b, sel >> 1 & 1));
        if (neg & 1) x ^= 0x8000;
        if (neg & 2) y ^= 0x8000;
        s += i.x == f16_2 ? static_cast<double>(f16_to_f32(x)) * f16_to_f32(y)
                          : static_cast<double>(bf16_to_f32(x)) * bf16_to_f32(y);
      }
      float d = static_cast<float>(s);
      if (i.clamp) d = d > 0 ? std::min(d, 1.0f) : 0;
      out[l] = bits(d);
      continue;
    }
    const bool sa = i.x == i8_4 || i.x == i4_8 || i.x == i16_2 || ((i.x == iu8_4 || i.x == iu4_8) && (i.neg_lo & 1));
    const bool sb = i.x == i8_4 || i.x == i4_8 || i.x == i16_2 || ((i.x == iu8_4 || i.x == iu4_8) && (i.neg_lo & 2));
    const bool sr = sa || sb;
    i64 s = sr ? static_cast<i64>(static_cast<i32>(c)) : static_cast<i64>(c);
    for (int k = 0; k < 32; k += width) {
      const u32 x = a << (32 - width - k), y = b << (32 - width - k);
      s += (sa ? static_cast<i64>(static_cast<i32>(x) >> (32 - width)) : static_cast<i64>(x >> (32 - width))) *
           (sb ? static_cast<i64>(static_cast<i32>(y) >> (32 - width)) : static_cast<i64>(y >> (32 - width)));
    }
    if (i.clamp) s = sr ? std::clamp<i64>(s, INT32_MIN, INT32_MAX) : std::clamp<i64>(s, 0, UINT32_MAX);
    out[l] = static_cast<u32>(s);
  }
  store32(w, i, i.dst[0], out, active(w, i));
}
template <class T, int N, class F>
void regp(const char* names, F) {
  op_entry e{fastest<&packed16<T, N, F>>()};
  e.is_float = true;  // 'clamp' is handled
  for_names(names, e);
}
template <int N, class F>
void regp32(const char* names, F) {
  for_names(names, {fastest<&packed32<N, F>>(), 1, 0, true});
}
template <class T>
T lesser(T a, T b) {
  return a != a ? b : b != b ? a : std::min(a, b);
}
template <class T>
T greater(T a, T b) {
  return a != a ? b : b != b ? a : std::max(a, b);
}
}  // namespace

void register_valu_packed() {
  const auto add = [](auto a, auto b) { return a + b; };
  const auto mul = [](auto a, auto b) { return a * b; };
  const auto fma = [](double a, double b, double c) { return a * b + c; };
  regp<half, 2>("v_pk_add_f16", add);
  regp<half, 2>("v_pk_mul_f16", mul);
  regp<half, 3>("v_pk_fma_f16", fma);
  regp<bhalf, 2>("v_pk_add_bf16", add);
  regp<bhalf, 2>("v_pk_mul_bf16", mul);
  regp<bhalf, 3>("v_pk_fma_bf16", fma);
  regp<half, 2>("v_pk_min_f16 v_pk_min_num_f16", [](float a, float b) { return lesser(a, b); });
  regp<half, 2>("v_pk_max_f16 v_pk_max_num_f16", [](float a, float b) { return greater(a, b); });
  regp<half, 2>("v_pk_minimum_f16", [](float a, float b) { return a != a ? a : b != b ? b : std::min(a, b); });
  regp<half, 2>("v_pk_maximum_f16", [](float a, float b) { return a != a ? a : b != b ? b : std::max(a, b); });
  regp<half, 3>("v_pk_minimum3_f16", [](float a, float b, float c) {
    return a != a ? a : b != b ? b : c != c ? c : std::min({a, b, c});
  });
  regp<half, 3>("v_pk_maximum3_f16", [](float a, float b, float c) {
    return a != a ? a : b != b ? b : c != c ? c : std::max({a, b, c});
  });
  op_entry fmac{fastest<&packed16<half, 3, decltype(fma)>>(), 1, 0, true, true};
  for_names("v_pk_fmac_f16", fmac);
  regp<u16, 2>("v_pk_add_u16", [](u16 a, u16 b) { return a + b; });
  regp<i16, 2>("v_pk_add_i16", [](i16 a, i16 b) { return a + b; });
  regp<u16, 2>("v_pk_sub_u16", [](u16 a, u16 b) { return a - b; });
  regp<i16, 2>("v_pk_sub_i16", [](i16 a, i16 b) { return a - b; });
  regp<u16, 2>("v_pk_mul_lo_u16",
               [](u16 a, u16 b) { return static_cast<i32>(static_cast<u16>(static_cast<u32>(a) * b)); });
  regp<u16, 3>("v_pk_mad_u16", [](u16 a, u16 b, u16 c) { return static_cast<i32>(static_cast<u32>(a) * b + c); });
  regp<i16, 3>("v_pk_mad_i16", [](i16 a, i16 b, i16 c) { return a * b + c; });
  regp<u16, 2>("v_pk_min_u16", [](u16 a, u16 b) { return std::min(a, b); });
  regp<u16, 2>("v_pk_max_u16", [](u16 a, u16 b) { return std::max(a, b); });
  regp<i16, 2>("v_pk_min_i16", [](i16 a, i16 b) { return std::min(a, b); });
  regp<i16, 2>("v_pk_max_i16", [](i16 a, i16 b) { return std::max(a, b); });
  regp<u16, 2>("v_pk_lshlrev_b16", [](u16 a, u16 b) { return static_cast<i32>(static_cast<u16>(b << (a & 15))); });
  regp<u16, 2>("v_pk_lshrrev_b16", [](u16 a, u16 b) { return b >> (a & 15); });
  regp<i16, 2>("v_pk_ashrrev_i16", [](i16 a, i16 b) { return b >> (a & 15); });
  regp32<2>("v_pk_add_f32", [](float a, float b) { return a + b; });
  regp32<2>("v_pk_mul_f32", [](float a, float b) { return a * b; });
  regp32<3>("v_pk_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); });
  for_names("v_pk_mov_b32", {fastest<&pk_mov>()});
  for_names("v_fma_mix_f32 v_mad_mix_f32", {fastest<&fma_mix<false>>(), 1, 0, true});
  for_names("v_fma_mix_f32_bf16", {fastest<&fma_mix<true>>(), 1, 0, true});
  for_names("v_fma_mixlo_f16 v_mad_mixlo_f16", {fastest<&fma_mix<false>>(), 1, 1, true});
  for_names("v_fma_mixlo_bf16", {fastest<&fma_mix<true>>(), 1, 1, true});
  for_names("v_fma_mixhi_f16 v_mad_mixhi_f16", {fastest<&fma_mix<false>>(), 1, 2, true});
  for_names("v_fma_mixhi_bf16", {fastest<&fma_mix<true>>(), 1, 2, true});
  for_names("v_dot2_f32_f16", {&dot_product, 1, f16_2, true});
  for_names("v_dot2_f32_bf16", {&dot_product, 1, bf16_2, true});
  for_names("v_dot2c_f32_f16 v_dot2acc_f32_f16", {&dot_product, 1, f16_2, true, true});
  for_names("v_dot2c_f32_bf16 v_dot2acc_f32_bf16", {&dot_product, 1, bf16_2, true, true});
  const auto idot = [](const char* n, int x, bool acc) {
    op_entry e{&dot_product, 1, x, false, acc};
    for_names(n, e), for_names((std::string(n) + "#clamp").c_str(), e);
  };
  idot("v_dot4_i32_i8", i8_4, false), idot("v_dot4_u32_u8", u8_4, false), idot("v_dot4_i32_iu8", iu8_4, false);
  idot("v_dot8_i32_i4", i4_8, false), idot("v_dot8_u32_u4", u4_8, false), idot("v_dot8_i32_iu4", iu4_8, false);
  idot("v_dot2_i32_i16", i16_2, false), idot("v_dot2_u32_u16", u16_2, false);
  idot("v_dot4c_i32_i8", i8_4, true), idot("v_dot8c_i32_i4", i4_8, true);
}
}  // namespace emu
