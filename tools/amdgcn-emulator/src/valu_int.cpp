// SPDX-License-Identifier: MIT
// Integer, bitwise and 64-bit vector arithmetic; moves.
#include "valu.hpp"

namespace emu {
namespace {
template <class T>
T clamp_to(i64 x) {
  return static_cast<T>(std::clamp<i64>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
i32 s24(u32 x) { return static_cast<i32>(x << 8) >> 8; }
u32 u24(u32 x) { return x & 0xffffff; }
u32 bfe_u(u32 a, u32 off, u32 n) {
  off &= 31, n &= 31;
  return n ? a >> off & ((1u << n) - 1) : 0;
}
i32 bfe_i(u32 a, u32 off, u32 n) {
  off &= 31, n &= 31;
  if (!n) return 0;
  return off + n >= 32 ? static_cast<i32>(a) >> off : static_cast<i32>(a << (32 - off - n)) >> (32 - n);
}
u32 perm(u32 a, u32 b, u32 s) {
  const u64 data = static_cast<u64>(a) << 32 | b;
  u32 r = 0;
  for (int k = 0; k < 4; ++k) {
    const u32 c = s >> 8 * k & 255;
    u32 v = c < 8     ? static_cast<u32>(data >> 8 * c) & 255
            : c == 12 ? 0
            : c > 12  ? 255
                      : (data >> (16 * (c - 8) + 15) & 1 ? 255 : 0);
    r |= v << 8 * k;
  }
  return r;
}
u32 sad_u8(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 4; ++k) {
    const int x = static_cast<int>(a >> 8 * k & 255), y = static_cast<int>(b >> 8 * k & 255);
    c += static_cast<u32>(x > y ? x - y : y - x);
  }
  return c;
}
i32 cls(i32 a) { return a == 0 || a == -1 ? -1 : std::countl_zero(static_cast<u32>(a < 0 ? ~a : a)); }

// Carry in and out. x: 0 add, 1 sub, 2 subrev; y: reads a carry.
template <int Op, bool CarryIn>
void carry(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind::i32, a), fetch(w, i, 1, kind::i32, b);
  const u64 cin = CarryIn ? w.rmask(i.src[2]) : 0, lanes = active(w, i);
  u64 out = 0;
  u32 r[64];
  for (u32 l = 0; l < w.lanes; ++l) {
    const u64 c = cin >> l & 1, x = Op == 2 ? b.lo[l] : a.lo[l], y = Op == 2 ? a.lo[l] : b.lo[l];
    const u64 t = Op == 0 ? x + y + c : x - y - c;
    r[l] = static_cast<u32>(t);
    out |= (t >> 32 & 1) << l;
  }
  if (i.clamp)
    for (u32 l = 0; l < w.lanes; ++l)
      if (out >> l & 1) r[l] = Op == 0 ? ~0u : 0;
  store32(w, i, i.dst[0], r, lanes);
  w.wmask(i.dst[1], out & lanes);
}
template <class P, class A>
void mad64(wave& w, const inst& i) {
  row a, b, c;
  fetch(w, i, 0, kind::i32, a), fetch(w, i, 1, kind::i32, b), fetch(w, i, 2, kind::i64, c);
  u64 out = 0;
  const u64 lanes = active(w, i);
  store_results<u64>(w, i, lanes, [&](u32 l) {
    const P p = static_cast<P>(static_cast<A>(a.lo[l])) * static_cast<P>(static_cast<A>(b.lo[l]));
    const u64 s = load<u64>(c, l), r = static_cast<u64>(p) + s;
    bool o;
    if constexpr (std::is_signed_v<P>) {
      P t;
      o = __builtin_add_overflow(p, static_cast<P>(s), &t);
    } else
      o = r < s;
    out |= static_cast<u64>(o) << l;
    return r;
  });
  w.wmask(i.dst[1], out & lanes);
}
void cndmask(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind::i32, a), fetch(w, i, 1, kind::i32, b);
  const u64 m = i.nsrc > 2 ? w.rmask(i.src[2]) : w.vcc();
  u32 r[64];
  for (u32 l = 0; l < w.lanes; ++l) r[l] = m >> l & 1 ? b.lo[l] : a.lo[l];
  store32(w, i, i.dst[0], r, active(w, i));
}
void cndmask16(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind::i16, a), fetch(w, i, 1, kind::i16, b);
  const u64 m = i.nsrc > 2 ? w.rmask(i.src[2]) : w.vcc();
  u32 r[64];
  for (u32 l = 0; l < w.lanes; ++l) r[l] = m >> l & 1 ? b.lo[l] : a.lo[l];
  store16(w, i, i.dst[0], r, active(w, i));
}
void bitop3(wave& w, const inst& i) {
  row a, b, c;
  const bool b16 = i.name == "v_bitop3_b16";
  const kind k = b16 ? kind::i16 : kind::i32;
  fetch(w, i, 0, k, a), fetch(w, i, 1, k, b), fetch(w, i, 2, k, c);
  u32 r[64];
  for (u32 l = 0; l < w.lanes; ++l) {
    const u32 x = a.lo[l], y = b.lo[l], z = c.lo[l];
    u32 v = 0;
    for (int t = 0; t < 8; ++t)
      if (i.x >> t & 1) v |= (t & 4 ? x : ~x) & (t & 2 ? y : ~y) & (t & 1 ? z : ~z);
    r[l] = v;
  }
  if (b16)
    store16(w, i, i.dst[0], r, active(w, i));
  else
    store32(w, i, i.dst[0], r, active(w, i));
}
void mbcnt(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind::i32, a), fetch(w, i, 1, kind::i32, b);
  u32 r[64];
  for (u32 l = 0; l < w.lanes; ++l) {
    const u64 below = (1ull << l) - 1;
    r[l] = b.lo[l] + static_cast<u32>(std::popcount(a.lo[l] & static_cast<u32>(i.x ? below >> 32 : below)));
  }
  store32(w, i, i.dst[0], r, active(w, i));
}
void swap32(wave& w, const inst& i) {
  u32 a[64], b[64];
  std::copy(w.v(i.ops[0].reg), w.v(i.ops[0].reg) + 64, a), std::copy(w.v(i.ops[1].reg), w.v(i.ops[1].reg) + 64, b);
  store32(w, i, i.ops[0], b, w.exec()), store32(w, i, i.ops[1], a, w.exec());
}
}  // namespace

void register_valu_int() {
  reg1<u32, u32>("v_mov_b32 v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32 v_accvgpr_read v_accvgpr_write",
                 [](u32 a) { return a; });
  reg1<u16, u16>("v_mov_b16", [](u16 a) { return a; });
  reg1<u64, u64>("v_mov_b64", [](u64 a) { return a; });
  reg1<u32, u32>("v_not_b32", [](u32 a) { return ~a; });
  reg1<u16, u16>("v_not_b16", [](u16 a) { return static_cast<u16>(~a); });
  reg1<u32, u32>("v_bfrev_b32", [](u32 a) {
    u32 r = 0;
    for (int k = 0; k < 32; ++k) r |= (a >> k & 1) << (31 - k);
    return r;
  });
  reg1<i32, u32>("v_ffbh_u32 v_clz_i32_u32", [](u32 a) { return a ? std::countl_zero(a) : -1; });
  reg1<i32, u32>("v_ffbl_b32 v_ctz_i32_b32", [](u32 a) { return a ? std::countr_zero(a) : -1; });
  reg1<i32, i32>("v_ffbh_i32 v_cls_i32", [](i32 a) { return cls(a); });
  for_names("v_swap_b32", {&swap32, 0});
  reg2<u32, u32>("v_and_b32", [](u32 a, u32 b) { return a & b; });
  reg2<u32, u32>("v_or_b32", [](u32 a, u32 b) { return a | b; });
  reg2<u32, u32>("v_xor_b32", [](u32 a, u32 b) { return a ^ b; });
  reg2<u32, u32>("v_xnor_b32", [](u32 a, u32 b) { return ~(a ^ b); });
  reg2<u16, u16>("v_and_b16", [](u16 a, u16 b) { return static_cast<u16>(a & b); });
  reg2<u16, u16>("v_or_b16", [](u16 a, u16 b) { return static_cast<u16>(a | b); });
  reg2<u16, u16>("v_xor_b16", [](u16 a, u16 b) { return static_cast<u16>(a ^ b); });
  reg2<u32, u32>("v_lshlrev_b32", [](u32 a, u32 b) { return b << (a & 31); });
  reg2<u32, u32>("v_lshrrev_b32", [](u32 a, u32 b) { return b >> (a & 31); });
  reg2<i32, u32, i32>("v_ashrrev_i32", [](u32 a, i32 b) { return b >> (a & 31); });
  reg2<u16, u16>("v_lshlrev_b16", [](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); });
  reg2<u16, u16>("v_lshrrev_b16", [](u16 a, u16 b) { return static_cast<u16>(b >> (a & 15)); });
  reg2<i16, u16, i16>("v_ashrrev_i16", [](u16 a, i16 b) { return static_cast<i16>(b >> (a & 15)); });
  reg2<u64, u32, u64>("v_lshlrev_b64", [](u32 a, u64 b) { return b << (a & 63); });
  reg2<u64, u32, u64>("v_lshrrev_b64", [](u32 a, u64 b) { return b >> (a & 63); });
  reg2<i64, u32, i64>("v_ashrrev_i64", [](u32 a, i64 b) { return b >> (a & 63); });
  reg2<u32, u32>("v_add_u32 v_add_nc_u32 v_add_i32 v_add_nc_i32", [](u32 a, u32 b) { return a + b; });
  reg2<u32, u32>("v_sub_u32 v_sub_nc_u32 v_sub_i32 v_sub_nc_i32", [](u32 a, u32 b) { return a - b; });
  reg2<u32, u32>("v_subrev_u32 v_subrev_nc_u32", [](u32 a, u32 b) { return b - a; });
  reg2<u32, u32>("v_add_u32#clamp v_add_nc_u32#clamp",
                 [](u32 a, u32 b) { return clamp_to<u32>(static_cast<i64>(a) + b); });
  reg2<u32, u32>("v_sub_u32#clamp v_sub_nc_u32#clamp",
                 [](u32 a, u32 b) { return clamp_to<u32>(static_cast<i64>(a) - b); });
  reg2<i32, i32>("v_add_i32#clamp v_add_nc_i32#clamp",
                 [](i32 a, i32 b) { return clamp_to<i32>(static_cast<i64>(a) + b); });
  reg2<i32, i32>("v_sub_i32#clamp v_sub_nc_i32#clamp",
                 [](i32 a, i32 b) { return clamp_to<i32>(static_cast<i64>(a) - b); });
  reg2<u16, u16>("v_add_u16 v_add_nc_u16 v_add_i16 v_add_nc_i16", [](u16 a, u16 b) { return static_cast<u16>(a + b); });
  reg2<u16, u16>("v_sub_u16 v_sub_nc_u16 v_sub_i16 v_sub_nc_i16", [](u16 a, u16 b) { return static_cast<u16>(a - b); });
  reg2<u16, u16>("v_subrev_u16", [](u16 a, u16 b) { return static_cast<u16>(b - a); });
  reg2<u16, u16>("v_add_u16#clamp v_add_nc_u16#clamp", [](u16 a, u16 b) { return clamp_to<u16>(a + b); });
  reg2<u16, u16>("v_sub_u16#clamp v_sub_nc_u16#clamp", [](u16 a, u16 b) { return clamp_to<u16>(a - b); });
  reg2<i16, i16>("v_add_i16#clamp v_add_nc_i16#clamp", [](i16 a, i16 b) { return clamp_to<i16>(a + b); });
  reg2<i16, i16>("v_sub_i16#clamp v_sub_nc_i16#clamp", [](i16 a, i16 b) { return clamp_to<i16>(a - b); });
  reg2<u16, u16>("v_mul_lo_u16", [](u16 a, u16 b) { return static_cast<u16>(static_cast<u32>(a) * b); });
  reg3<u16, u16>("v_mad_u16 v_mad_i16",
                 [](u16 a, u16 b, u16 c) { return static_cast<u16>(static_cast<u32>(a) * b + c); });
  reg2<u32, u32>("v_mul_lo_u32 v_mul_lo_i32", [](u32 a, u32 b) { return a * b; });
  reg2<u32, u32>("v_mul_hi_u32", [](u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(a) * b >> 32); });
  reg2<i32, i32>("v_mul_hi_i32", [](i32 a, i32 b) { return static_cast<i32>(static_cast<i64>(a) * b >> 32); });
  reg2<u32, u32>("v_mul_u32_u24", [](u32 a, u32 b) { return u24(a) * u24(b); });
  reg2<u32, u32>("v_mul_i32_i24", [](u32 a, u32 b) { return static_cast<u32>(s24(a)) * static_cast<u32>(s24(b)); });
  reg2<u32, u32>("v_mul_hi_u32_u24",
                 [](u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(u24(a)) * u24(b) >> 32); });
  reg2<u32, u32>("v_mul_hi_i32_i24", [](u32 a, u32 b) {
    return static_cast<u32>(static_cast<u64>(static_cast<i64>(s24(a)) * s24(b)) >> 32);
  });
  reg3<u32, u32>("v_mad_u32_u24", [](u32 a, u32 b, u32 c) { return u24(a) * u24(b) + c; });
  reg3<u32, u32>("v_mad_i32_i24",
                 [](u32 a, u32 b, u32 c) { return static_cast<u32>(s24(a)) * static_cast<u32>(s24(b)) + c; });
  reg3<u32, u16, u16, u32>("v_mad_u32_u16", [](u16 a, u16 b, u32 c) { return static_cast<u32>(a) * b + c; });
  reg3<i32, i16, i16, i32>("v_mad_i32_i16", [](i16 a, i16 b, i32 c) {
    return static_cast<i32>(static_cast<u32>(static_cast<i32>(a) * b) + static_cast<u32>(c));
  });
  reg2<u32, u32>("v_min_u32", [](u32 a, u32 b) { return std::min(a, b); });
  reg2<u32, u32>("v_max_u32", [](u32 a, u32 b) { return std::max(a, b); });
  reg2<i32, i32>("v_min_i32", [](i32 a, i32 b) { return std::min(a, b); });
  reg2<i32, i32>("v_max_i32", [](i32 a, i32 b) { return std::max(a, b); });
  reg2<u16, u16>("v_min_u16", [](u16 a, u16 b) { return std::min(a, b); });
  reg2<u16, u16>("v_max_u16", [](u16 a, u16 b) { return std::max(a, b); });
  reg2<i16, i16>("v_min_i16", [](i16 a, i16 b) { return std::min(a, b); });
  reg2<i16, i16>("v_max_i16", [](i16 a, i16 b) { return std::max(a, b); });
  reg3<u32, u32>("v_min3_u32", [](u32 a, u32 b, u32 c) { return std::min({a, b, c}); });
  reg3<u32, u32>("v_max3_u32", [](u32 a, u32 b, u32 c) { return std::max({a, b, c}); });
  reg3<i32, i32>("v_min3_i32", [](i32 a, i32 b, i32 c) { return std::min({a, b, c}); });
  reg3<i32, i32>("v_max3_i32", [](i32 a, i32 b, i32 c) { return std::max({a, b, c}); });
  reg3<u32, u32>("v_med3_u32",
                 [](u32 a, u32 b, u32 c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); });
  reg3<i32, i32>("v_med3_i32",
                 [](i32 a, i32 b, i32 c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); });
  reg3<i32, i32>("v_maxmin_i32", [](i32 a, i32 b, i32 c) { return std::min(std::max(a, b), c); });
  reg3<i32, i32>("v_minmax_i32", [](i32 a, i32 b, i32 c) { return std::max(std::min(a, b), c); });
  reg3<u32, u32>("v_maxmin_u32", [](u32 a, u32 b, u32 c) { return std::min(std::max(a, b), c); });
  reg3<u32, u32>("v_minmax_u32", [](u32 a, u32 b, u32 c) { return std::max(std::min(a, b), c); });
  reg3<u16, u16>("v_min3_u16", [](u16 a, u16 b, u16 c) { return std::min({a, b, c}); });
  reg3<u16, u16>("v_max3_u16", [](u16 a, u16 b, u16 c) { return std::max({a, b, c}); });
  reg3<i16, i16>("v_min3_i16", [](i16 a, i16 b, i16 c) { return std::min({a, b, c}); });
  reg3<i16, i16>("v_max3_i16", [](i16 a, i16 b, i16 c) { return std::max({a, b, c}); });
  reg3<u32, u32>("v_add3_u32", [](u32 a, u32 b, u32 c) { return a + b + c; });
  reg3<u32, u32>("v_lshl_add_u32", [](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; });
  reg3<u32, u32>("v_add_lshl_u32", [](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); });
  reg3<u32, u32>("v_lshl_or_b32", [](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; });
  reg3<u32, u32>("v_and_or_b32", [](u32 a, u32 b, u32 c) { return (a & b) | c; });
  reg3<u32, u32>("v_or3_b32", [](u32 a, u32 b, u32 c) { return a | b | c; });
  reg3<u32, u32>("v_xor3_b32", [](u32 a, u32 b, u32 c) { return a ^ b ^ c; });
  reg3<u32, u32>("v_xad_u32", [](u32 a, u32 b, u32 c) { return (a ^ b) + c; });
  reg3<u64, u64, u32, u64>("v_lshl_add_u64", [](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; });
  reg3<u32, u32>("v_bfe_u32", [](u32 a, u32 b, u32 c) { return bfe_u(a, b, c); });
  reg3<i32, u32>("v_bfe_i32", [](u32 a, u32 b, u32 c) { return bfe_i(a, b, c); });
  reg3<u32, u32>("v_bfi_b32", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); });
  reg2<u32, u32>("v_bfm_b32", [](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); });
  reg3<u32, u32>("v_alignbit_b32",
                 [](u32 a, u32 b, u32 c) { return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> (c & 31)); });
  reg3<u32, u32>("v_alignbyte_b32",
                 [](u32 a, u32 b, u32 c) { return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> 8 * (c & 3)); });
  reg3<u32, u32>("v_perm_b32", [](u32 a, u32 b, u32 c) { return perm(a, b, c); });
  reg3<u32, u32>("v_sad_u8", [](u32 a, u32 b, u32 c) { return sad_u8(a, b, c); });
  reg3<u32, u32>("v_sad_hi_u8", [](u32 a, u32 b, u32 c) { return (sad_u8(a, b, 0) << 16) + c; });
  reg3<u32, u32>("v_msad_u8", [](u32 a, u32 b, u32 c) {
    for (int k = 0; k < 32; k += 8) {
      const u32 x = a >> k & 255, y = b >> k & 255;
      if (y) c += x > y ? x - y : y - x;
    }
    return c;
  });
  reg3<u32, u32>("v_sad_u16", [](u32 a, u32 b, u32 c) {
    for (int k = 0; k < 32; k += 16) {
      const u32 x = a >> k & 0xffff, y = b >> k & 0xffff;
      c += x > y ? x - y : y - x;
    }
    return c;
  });
  reg3<u32, u32>("v_lerp_u8", [](u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (int k = 0; k < 32; k += 8) r |= (((a >> k & 255) + (b >> k & 255) + (c >> k & 1)) >> 1 & 255) << k;
    return r;
  });
  reg3<u16, u16>("v_med3_u16",
                 [](u16 a, u16 b, u16 c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); });
  reg3<i16, i16>("v_med3_i16",
                 [](i16 a, i16 b, i16 c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); });
  reg1<u16, u32>("v_sat_pk_u8_i16", [](u32 a) {
    const auto sat = [](u32 x) { return static_cast<u32>(std::clamp<i32>(static_cast<i16>(x), 0, 255)); };
    return static_cast<u16>(sat(a) | sat(a >> 16) << 8);
  });
  reg3<u16, i32, i32, u32>("v_ashr_pk_i8_i32", [](i32 a, i32 b, u32 c) {
    return static_cast<u16>((std::clamp(a >> (c & 31), -128, 127) & 255) | (std::clamp(b >> (c & 31), -128, 127) & 255)
                                                                               << 8);
  });
  reg3<u16, i32, i32, u32>("v_ashr_pk_u8_i32", [](i32 a, i32 b, u32 c) {
    return static_cast<u16>(std::clamp(a >> (c & 31), 0, 255) | std::clamp(b >> (c & 31), 0, 255) << 8);
  });
  reg3<u32, u32>("v_sad_u32", [](u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; });
  reg2<u32, u32>("v_bcnt_u32_b32", [](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; });
  for_names("v_bitop3_b32", {&bitop3});
  for_names("v_bitop3_b16", {&bitop3});
  for_names("v_mbcnt_lo_u32_b32", {&mbcnt});
  for_names("v_mbcnt_hi_u32_b32", {&mbcnt, 1, 1});
  for_names("v_cndmask_b32", {&cndmask});
  for_names("v_cndmask_b16", {&cndmask16});
  for_names("v_add_co_u32 v_add_co_u32#clamp", {&carry<0, false>, 2});
  for_names("v_sub_co_u32 v_sub_co_u32#clamp", {&carry<1, false>, 2});
  for_names("v_subrev_co_u32", {&carry<2, false>, 2});
  for_names("v_addc_co_u32 v_add_co_ci_u32", {&carry<0, true>, 2});
  for_names("v_subb_co_u32 v_sub_co_ci_u32", {&carry<1, true>, 2});
  for_names("v_subbrev_co_u32 v_subrev_co_ci_u32", {&carry<2, true>, 2});
  for_names("v_mad_u64_u32 v_mad_co_u64_u32", {&mad64<u64, u32>, 2});
  for_names("v_mad_i64_i32 v_mad_co_i64_i32", {&mad64<i64, i32>, 2});
}
}  // namespace emu
