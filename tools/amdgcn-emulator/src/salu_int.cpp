// SPDX-License-Identifier: MIT
// Scalar integers: moves, arithmetic, bits, comparisons.
#include "salu.hpp"

namespace emu {
namespace {
void movk(wave& w, const inst& i) {
  w.ws32(i.dst[0], static_cast<u32>(static_cast<i32>(static_cast<i16>(i.src[0].bits))));
}
void cmovk(wave& w, const inst& i) {
  if (w.scc()) movk(w, i);
}
void addk(wave& w, const inst& i) {
  i32 r;
  w.scc() =
      __builtin_add_overflow(static_cast<i32>(w.rs32(i.dst[0])), static_cast<i32>(static_cast<i16>(i.src[0].bits)), &r);
  w.ws32(i.dst[0], static_cast<u32>(r));
}
void mulk(wave& w, const inst& i) {
  w.ws32(i.dst[0], w.rs32(i.dst[0]) * static_cast<u32>(static_cast<i32>(static_cast<i16>(i.src[0].bits))));
}
void bfe64(wave& w, const inst& i) {
  const u64 a = w.rs64(i.src[0]);
  const u32 b = w.rs32(i.src[1]), off = b & 63, n = std::min(b >> 16 & 127, 64u);
  u64 r = n ? a >> off & (n == 64 ? ~0ull : (1ull << n) - 1) : 0;
  if (i.x && n && off + n <= 64) r = static_cast<u64>(sign_extend(r, static_cast<int>(n)));
  w.ws64(i.dst[0], r), w.scc() = r != 0;
}
void cselect64(wave& w, const inst& i) { w.ws64(i.dst[0], w.rs64(i.src[w.scc() ? 0 : 1])); }
void bitset(wave& w, const inst& i) {
  const u32 b = w.rs32(i.src[0]);
  if (i.y == 64) {
    const u64 m = 1ull << (b & 63), o = w.rs64(i.dst[0]);
    w.ws64(i.dst[0], i.x ? o | m : o & ~m);
  } else {
    const u32 m = 1u << (b & 31), o = w.rs32(i.dst[0]);
    w.ws32(i.dst[0], i.x ? o | m : o & ~m);
  }
}
u32 reverse(u32 a) {
  u32 r = 0;
  for (int k = 0; k < 32; ++k) r |= (a >> k & 1) << (31 - k);
  return r;
}

void register_moves() {
  r1<u32>("s_mov_b32", [](u32 a) { return a; });
  r1<u64>("s_mov_b64", [](u64 a) { return a; });
  rb1<u32>("s_not_b32", [](u32 a) { return ~a; });
  rb1<u64>("s_not_b64", [](u64 a) { return ~a; });
  rb1<u32>("s_bcnt1_i32_b32", [](u32 a) { return static_cast<u32>(std::popcount(a)); });
  rb1<u64>("s_bcnt1_i32_b64", [](u64 a) { return static_cast<u32>(std::popcount(a)); });
  rb1<u32>("s_bcnt0_i32_b32", [](u32 a) { return static_cast<u32>(32 - std::popcount(a)); });
  rb1<u64>("s_bcnt0_i32_b64", [](u64 a) { return static_cast<u32>(64 - std::popcount(a)); });
  rb1<i32>("s_abs_i32", [](i32 a) { return a < 0 ? 0u - static_cast<u32>(a) : static_cast<u32>(a); });
  r1<u32>("s_brev_b32", [](u32 a) { return reverse(a); });
  r1<u64>("s_brev_b64", [](u64 a) {
    return static_cast<u64>(reverse(static_cast<u32>(a))) << 32 | reverse(static_cast<u32>(a >> 32));
  });
  const auto trailing = [](auto a) { return a ? static_cast<u32>(std::countr_zero(a)) : ~0u; };
  const auto leading = [](auto a) { return a ? static_cast<u32>(std::countl_zero(a)) : ~0u; };
  r1<u32>("s_ff1_i32_b32 s_ctz_i32_b32", trailing);
  r1<u64>("s_ff1_i32_b64 s_ctz_i32_b64", trailing);
  r1<u32>("s_flbit_i32_b32 s_clz_i32_u32", leading);
  r1<u64>("s_flbit_i32_b64 s_clz_i32_u64", leading);
  r1<i32>("s_flbit_i32 s_cls_i32", [](i32 a) {
    return a == 0 || a == -1 ? ~0u : static_cast<u32>(std::countl_zero(static_cast<u32>(a < 0 ? ~a : a)));
  });
  r1<u32>("s_sext_i32_i8", [](u32 a) { return static_cast<i32>(static_cast<i8>(a)); });
  r1<u32>("s_sext_i32_i16", [](u32 a) { return static_cast<i32>(static_cast<i16>(a)); });
  for_names("s_cmov_b32", {[](wave& w, const inst& i) {
              if (w.scc()) w.ws32(i.dst[0], w.rs32(i.src[0]));
            }});
  for_names("s_cmov_b64", {[](wave& w, const inst& i) {
              if (w.scc()) w.ws64(i.dst[0], w.rs64(i.src[0]));
            }});
  for (int k = 0; k < 2; ++k) {
    for_names(k ? "s_bitset1_b32" : "s_bitset0_b32", {&bitset, 1, k});
    for_names(k ? "s_bitset1_b64" : "s_bitset0_b64", {[](wave& w, const inst& i) {
                                                        inst t = i;
                                                        t.y = 64;
                                                        bitset(w, t);
                                                      },
                                                      1, k});
  }
  for_names("s_movk_i32", {&movk});
  for_names("s_cmovk_i32", {&cmovk});
  for_names("s_addk_i32 s_addk_co_i32", {&addk});
  for_names("s_mulk_i32", {&mulk});
}
void register_arithmetic() {
  ra2<u32>("s_add_u32 s_add_co_u32", [](u32 a, u32 b, u32& c) {
    const u64 t = static_cast<u64>(a) + b;
    c = static_cast<u32>(t >> 32);
    return static_cast<u32>(t);
  });
  ra2<u32>("s_sub_u32 s_sub_co_u32", [](u32 a, u32 b, u32& c) {
    c = b > a;
    return a - b;
  });
  ra2<u32>("s_addc_u32 s_add_co_ci_u32", [](u32 a, u32 b, u32& c) {
    const u64 t = static_cast<u64>(a) + b + c;
    c = static_cast<u32>(t >> 32);
    return static_cast<u32>(t);
  });
  ra2<u32>("s_subb_u32 s_sub_co_ci_u32", [](u32 a, u32 b, u32& c) {
    const u32 r = a - b - c;
    c = static_cast<u64>(b) + c > a;
    return r;
  });
  ra2<i32>("s_add_i32 s_add_co_i32", [](i32 a, i32 b, u32& c) {
    i32 r;
    c = __builtin_add_overflow(a, b, &r);
    return r;
  });
  ra2<i32>("s_sub_i32 s_sub_co_i32", [](i32 a, i32 b, u32& c) {
    i32 r;
    c = __builtin_sub_overflow(a, b, &r);
    return r;
  });
  ra2<i32>("s_absdiff_i32", [](i32 a, i32 b, u32& c) {
    const i32 r =
        static_cast<i32>(a > b ? static_cast<u32>(a) - static_cast<u32>(b) : static_cast<u32>(b) - static_cast<u32>(a));
    c = r != 0;
    return r;
  });
  ra2<u32>("s_min_u32", [](u32 a, u32 b, u32& c) {
    c = a < b;
    return std::min(a, b);
  });
  ra2<u32>("s_max_u32", [](u32 a, u32 b, u32& c) {
    c = a > b;
    return std::max(a, b);
  });
  ra2<i32>("s_min_i32", [](i32 a, i32 b, u32& c) {
    c = a < b;
    return std::min(a, b);
  });
  ra2<i32>("s_max_i32", [](i32 a, i32 b, u32& c) {
    c = a > b;
    return std::max(a, b);
  });
  ra2<u32>("s_cselect_b32", [](u32 a, u32 b, u32& c) { return c ? a : b; });
  for_names("s_cselect_b64", {&cselect64});
  ra2<u32>("s_mul_i32", [](u32 a, u32 b, u32&) { return a * b; });
  ra2<u32>("s_mul_hi_u32", [](u32 a, u32 b, u32&) { return static_cast<u32>(static_cast<u64>(a) * b >> 32); });
  ra2<i32>("s_mul_hi_i32", [](i32 a, i32 b, u32&) { return static_cast<i32>(static_cast<i64>(a) * b >> 32); });
  ra2<u64>("s_add_nc_u64 s_add_u64", [](u64 a, u64 b, u32&) { return a + b; });
  ra2<u64>("s_sub_nc_u64 s_sub_u64", [](u64 a, u64 b, u32&) { return a - b; });
  ra2<u64>("s_mul_u64", [](u64 a, u64 b, u32&) { return a * b; });
  static const char* const shifted_sums[] = {"s_lshl1_add_u32", "s_lshl2_add_u32", "s_lshl3_add_u32",
                                             "s_lshl4_add_u32"};
  for (int k = 0; k < 4; ++k)
    for_names(shifted_sums[k], {[](wave& w, const inst& i) {
                                  const u64 t = (static_cast<u64>(w.rs32(i.src[0])) << (i.x + 1)) + w.rs32(i.src[1]);
                                  w.ws32(i.dst[0], static_cast<u32>(t)), w.scc() = t >> 32 != 0;
                                },
                                1, k});
}
void register_bits() {
  ra2<u32>("s_bfm_b32", [](u32 a, u32 b, u32&) { return ((1u << (a & 31)) - 1) << (b & 31); });
  for_names("s_bfm_b64", {[](wave& w, const inst& i) {
              w.ws64(i.dst[0], ((1ull << (w.rs32(i.src[0]) & 63)) - 1) << (w.rs32(i.src[1]) & 63));
            }});
  ra2<u32>("s_pack_ll_b32_b16", [](u32 a, u32 b, u32&) { return (a & 0xffff) | b << 16; });
  ra2<u32>("s_pack_lh_b32_b16", [](u32 a, u32 b, u32&) { return (a & 0xffff) | (b & 0xffff0000u); });
  ra2<u32>("s_pack_hh_b32_b16", [](u32 a, u32 b, u32&) { return a >> 16 | (b & 0xffff0000u); });
  ra2<u32>("s_pack_hl_b32_b16", [](u32 a, u32 b, u32&) { return a >> 16 | b << 16; });
#define BITWISE(T, W)                                                                                        \
  rb2<T>("s_and_b" W, [](T a, T b) { return a & b; });                                                       \
  rb2<T>("s_or_b" W, [](T a, T b) { return a | b; });                                                        \
  rb2<T>("s_xor_b" W, [](T a, T b) { return a ^ b; });                                                       \
  rb2<T>("s_andn2_b" W " s_and_not1_b" W, [](T a, T b) { return a & ~b; });                                  \
  rb2<T>("s_orn2_b" W " s_or_not1_b" W, [](T a, T b) { return a | ~b; });                                    \
  rb2<T>("s_nand_b" W, [](T a, T b) { return ~(a & b); });                                                   \
  rb2<T>("s_nor_b" W, [](T a, T b) { return ~(a | b); });                                                    \
  rb2<T>("s_xnor_b" W, [](T a, T b) { return ~(a ^ b); });                                                   \
  rsh<T>("s_lshl_b" W, [](T a, u32 b) { return a << (b & (8 * sizeof(T) - 1)); });                           \
  rsh<T>("s_lshr_b" W, [](T a, u32 b) { return a >> (b & (8 * sizeof(T) - 1)); });                           \
  rsh<std::make_signed_t<T>>("s_ashr_i" W,                                                                   \
                             [](std::make_signed_t<T> a, u32 b) { return a >> (b & (8 * sizeof(T) - 1)); }); \
  rse("s_and_saveexec_b" W, [](u64 s, u64 e) { return s & e; });                                             \
  rse("s_or_saveexec_b" W, [](u64 s, u64 e) { return s | e; });                                              \
  rse("s_xor_saveexec_b" W, [](u64 s, u64 e) { return s ^ e; });                                             \
  rse("s_andn2_saveexec_b" W " s_and_not1_saveexec_b" W, [](u64 s, u64 e) { return s & ~e; });               \
  rse("s_andn1_saveexec_b" W " s_and_not0_saveexec_b" W, [](u64 s, u64 e) { return ~s & e; });               \
  rse("s_orn1_saveexec_b" W " s_or_not0_saveexec_b" W, [](u64 s, u64 e) { return ~s | e; });                 \
  rse("s_orn2_saveexec_b" W " s_or_not1_saveexec_b" W, [](u64 s, u64 e) { return s | ~e; });                 \
  rwe("s_andn1_wrexec_b" W " s_and_not0_wrexec_b" W, [](u64 s, u64 e) { return ~s & e; });                   \
  rwe("s_andn2_wrexec_b" W " s_and_not1_wrexec_b" W, [](u64 s, u64 e) { return s & ~e; });
  BITWISE(u32, "32")
  BITWISE(u64, "64")
#undef BITWISE
  rb2<u32>("s_bfe_u32", [](u32 a, u32 b) {
    const u32 o = b & 31, n = b >> 16 & 127;
    return n == 0 ? 0u : n >= 32 ? a >> o : a >> o & ((1u << n) - 1);
  });
  rb2<u32>("s_bfe_i32", [](u32 a, u32 b) {
    const u32 o = b & 31, n = b >> 16 & 127;
    return n == 0        ? 0u
           : o + n >= 32 ? static_cast<u32>(static_cast<i32>(a) >> o)
                         : static_cast<u32>(static_cast<i32>(a << (32 - o - n)) >> (32 - n));
  });
  for_names("s_bfe_u64", {&bfe64});
  for_names("s_bfe_i64", {&bfe64, 1, 1});
}
void register_compares() {
  rc<i32>("lt_i32", [](i32 a, i32 b) { return a < b; });
  rc<i32>("le_i32", [](i32 a, i32 b) { return a <= b; });
  rc<i32>("gt_i32", [](i32 a, i32 b) { return a > b; });
  rc<i32>("ge_i32", [](i32 a, i32 b) { return a >= b; });
  rc<i32>("eq_i32", [](i32 a, i32 b) { return a == b; });
  rc<i32>("lg_i32", [](i32 a, i32 b) { return a != b; });
  rc<u32>("lt_u32", [](u32 a, u32 b) { return a < b; });
  rc<u32>("le_u32", [](u32 a, u32 b) { return a <= b; });
  rc<u32>("gt_u32", [](u32 a, u32 b) { return a > b; });
  rc<u32>("ge_u32", [](u32 a, u32 b) { return a >= b; });
  rc<u32>("eq_u32", [](u32 a, u32 b) { return a == b; });
  rc<u32>("lg_u32", [](u32 a, u32 b) { return a != b; });
  rc<u64>("eq_u64", [](u64 a, u64 b) { return a == b; });
  rc<u64>("lg_u64 s_cmp_ne_u64", [](u64 a, u64 b) { return a != b; });
  for_names("s_bitcmp0_b32",
            {[](wave& w, const inst& i) { w.scc() = !(w.rs32(i.src[0]) >> (w.rs32(i.src[1]) & 31) & 1); }, 0});
  for_names("s_bitcmp1_b32",
            {[](wave& w, const inst& i) { w.scc() = w.rs32(i.src[0]) >> (w.rs32(i.src[1]) & 31) & 1; }, 0});
  for_names("s_bitcmp0_b64",
            {[](wave& w, const inst& i) { w.scc() = !(w.rs64(i.src[0]) >> (w.rs32(i.src[1]) & 63) & 1); }, 0});
  for_names("s_bitcmp1_b64",
            {[](wave& w, const inst& i) { w.scc() = w.rs64(i.src[0]) >> (w.rs32(i.src[1]) & 63) & 1; }, 0});
}
}  // namespace

void register_salu_int() {
  register_moves();
  register_arithmetic();
  register_bits();
  register_compares();
}
}  // namespace emu
