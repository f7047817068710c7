// SPDX-License-Identifier: MIT
// Moves, selection, shifts and bitwise vector operations.
#include "valu.hpp"

namespace emu {
namespace {
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
i32 cls(i32 a) { return a == 0 || a == -1 ? -1 : std::countl_zero(static_cast<u32>(a < 0 ? ~a : a)); }
void cndmask(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind::i32, a), fetch(w, i, 1, kind::i32, b);
  const u64 m = i.nsrc > 2 ? w.rmask(i.src[2]) : w.vcc();
  u32 r[64];
  std::memcpy(r, a.lo, w.lanes * sizeof *r), put(r, b.lo, m & w.full(), w);
  store32(w, i, i.dst[0], r, active(w, i));
}
void cndmask16(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind::i16, a), fetch(w, i, 1, kind::i16, b);
  const u64 m = i.nsrc > 2 ? w.rmask(i.src[2]) : w.vcc();
  u32 r[64];
  std::memcpy(r, a.lo, w.lanes * sizeof *r), put(r, b.lo, m & w.full(), w);
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
  each_lane(w, [&](u64 l) {
    const u64 below = (1ull << l) - 1;
    r[l] = b.lo[l] + static_cast<u32>(std::popcount(a.lo[l] & static_cast<u32>(i.x ? below >> 32 : below)));
  });
  store32(w, i, i.dst[0], r, active(w, i));
}
void swap32(wave& w, const inst& i) {
  u32 a[64], b[64];
  std::copy(w.v(i.ops[0].reg), w.v(i.ops[0].reg) + 64, a), std::copy(w.v(i.ops[1].reg), w.v(i.ops[1].reg) + 64, b);
  store32(w, i, i.ops[0], b, w.exec()), store32(w, i, i.ops[1], a, w.exec());
}
}  // namespace

void register_valu_bits() {
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
  reg3<u32, u32>("v_lshl_or_b32", [](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; });
  reg3<u32, u32>("v_and_or_b32", [](u32 a, u32 b, u32 c) { return (a & b) | c; });
  reg3<u32, u32>("v_or3_b32", [](u32 a, u32 b, u32 c) { return a | b | c; });
  reg3<u32, u32>("v_xor3_b32", [](u32 a, u32 b, u32 c) { return a ^ b ^ c; });
  reg3<u32, u32>("v_bfe_u32", [](u32 a, u32 b, u32 c) { return bfe_u(a, b, c); });
  reg3<i32, u32>("v_bfe_i32", [](u32 a, u32 b, u32 c) { return bfe_i(a, b, c); });
  reg3<u32, u32>("v_bfi_b32", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); });
  reg2<u32, u32>("v_bfm_b32", [](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); });
  reg3<u32, u32>("v_alignbit_b32",
                 [](u32 a, u32 b, u32 c) { return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> (c & 31)); });
  reg3<u32, u32>("v_alignbyte_b32",
                 [](u32 a, u32 b, u32 c) { return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> 8 * (c & 3)); });
  reg3<u32, u32>("v_perm_b32", [](u32 a, u32 b, u32 c) { return perm(a, b, c); });
  reg1<u16, u32>("v_sat_pk_u8_i16", [](u32 a) {
    const auto sat = [](u32 x) { return static_cast<u32>(std::clamp<i32>(static_cast<i16>(x), 0, 255)); };
    return static_cast<u16>(sat(a) | sat(a >> 16) << 8);
  });
  reg2<u32, u32>("v_bcnt_u32_b32", [](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; });
  for_names("v_bitop3_b32 v_bitop2_b32", {&bitop3});
  for_names("v_bitop3_b16", {&bitop3});
  for_names("v_mbcnt_lo_u32_b32", {fastest<&mbcnt>()});
  for_names("v_mbcnt_hi_u32_b32", {fastest<&mbcnt>(), 1, 1});
  for_names("v_cndmask_b32", {fastest<&cndmask>()});
  for_names("v_cndmask_b16", {fastest<&cndmask16>()});
}
}  // namespace emu
