// SPDX-License-Identifier: MIT
// Integer and 64-bit vector arithmetic.
#include "valu.hpp"

namespace emu {
namespace {
template <class T>
T clamp_to(i64 x) {
  return static_cast<T>(std::clamp<i64>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
i32 s24(u32 x) { return static_cast<i32>(x << 8) >> 8; }
u32 u24(u32 x) { return x & 0xffffff; }
u32 sad_u8(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 4; ++k) {
    const int x = static_cast<int>(a >> 8 * k & 255), y = static_cast<int>(b >> 8 * k & 255);
    c += static_cast<u32>(x > y ? x - y : y - x);
  }
  return c;
}

// Carry in and out. x: 0 add, 1 sub, 2 subrev; y: reads a carry.
template <int Op, bool CarryIn>
void carry(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind::i32, a), fetch(w, i, 1, kind::i32, b);
  const u64 cin = CarryIn ? w.rmask(i.src[2]) : 0, lanes = active(w, i);
  u32 r[64];
  const u64 out = lanes_where(w, [&](u64 l) {
    const u32 c = static_cast<u32>(cin >> l & 1), x = Op == 2 ? b.lo[l] : a.lo[l], y = Op == 2 ? a.lo[l] : b.lo[l];
    r[l] = Op == 0 ? x + y + c : x - y - c;
    return Op == 0 ? (r[l] < x) | ((r[l] == x) & (c != 0)) : (x < y) | ((x == y) & (c != 0));
  });
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
}  // namespace

void register_valu_int() {
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
  reg3<u16, u16>("v_mad_u16 v_mad_i16 v_mad_legacy_u16 v_mad_legacy_i16",
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
  reg3<u32, u32>("v_xad_u32", [](u32 a, u32 b, u32 c) { return (a ^ b) + c; });
  reg3<u64, u64, u32, u64>("v_lshl_add_u64", [](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; });
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
  reg3<u16, i32, i32, u32>("v_ashr_pk_i8_i32", [](i32 a, i32 b, u32 c) {
    return static_cast<u16>((std::clamp(a >> (c & 31), -128, 127) & 255) | (std::clamp(b >> (c & 31), -128, 127) & 255)
                                                                               << 8);
  });
  reg3<u16, i32, i32, u32>("v_ashr_pk_u8_i32", [](i32 a, i32 b, u32 c) {
    return static_cast<u16>(std::clamp(a >> (c & 31), 0, 255) | std::clamp(b >> (c & 31), 0, 255) << 8);
  });
  reg3<u32, u32>("v_sad_u32", [](u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; });
  for_names("v_add_co_u32 v_add_co_u32#clamp", {fastest<&carry<0, false>>(), 2});
  for_names("v_sub_co_u32 v_sub_co_u32#clamp", {fastest<&carry<1, false>>(), 2});
  for_names("v_subrev_co_u32", {fastest<&carry<2, false>>(), 2});
  for_names("v_addc_co_u32 v_add_co_ci_u32", {fastest<&carry<0, true>>(), 2});
  for_names("v_subb_co_u32 v_sub_co_ci_u32", {fastest<&carry<1, true>>(), 2});
  for_names("v_subbrev_co_u32 v_subrev_co_ci_u32", {fastest<&carry<2, true>>(), 2});
  for_names("v_mad_u64_u32 v_mad_co_u64_u32", {fastest<&mad64<u64, u32>>(), 2});
  for_names("v_mad_i64_i32 v_mad_co_i64_i32", {fastest<&mad64<i64, i32>>(), 2});
}
}  // namespace emu
