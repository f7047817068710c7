// SPDX-License-Identifier: MIT
// Scalar instructions: arithmetic, branches, barriers, waits, mode registers.
#include "valu.hpp"

namespace emu {
namespace {
template <class T, class F>
void sop1(wave& w, const inst& i) {
  if constexpr (sizeof(T) == 8)
    w.ws64(i.dst[0], static_cast<u64>(F{}(static_cast<T>(w.rs64(i.src[0])))));
  else
    w.ws32(i.dst[0], static_cast<u32>(F{}(static_cast<T>(w.rs32(i.src[0])))));
}
template <class T>
T rs(const wave& w, const operand& o) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(w.rs64(o));
  else
    return static_cast<T>(w.rs32(o));
}
template <class T>
void ws(wave& w, const operand& o, T x) {
  if constexpr (sizeof(T) == 8)
    w.ws64(o, static_cast<u64>(x));
  else
    w.ws32(o, static_cast<u32>(x));
}
// Result, SCC = result is not zero
template <class T, class F>
void bit1(wave& w, const inst& i) {
  const auto r = F{}(rs<T>(w, i.src[0]));
  ws(w, i.dst[0], r), w.scc() = r != 0;
}
template <class T, class F>
void bit2(wave& w, const inst& i) {
  const T r = static_cast<T>(F{}(rs<T>(w, i.src[0]), rs<T>(w, i.src[1])));
  ws(w, i.dst[0], r), w.scc() = r != 0;
}
template <class T, class F>
void shift(wave& w, const inst& i) {
  const T r = static_cast<T>(F{}(rs<T>(w, i.src[0]), rs<u32>(w, i.src[1])));
  ws(w, i.dst[0], r), w.scc() = r != 0;
}
// Function with access to SCC
template <class T, class F>
void alu2(wave& w, const inst& i) {
  ws<T>(w, i.dst[0], static_cast<T>(F{}(rs<T>(w, i.src[0]), rs<T>(w, i.src[1]), w.scc())));
}
template <class T, class F>
void cmp(wave& w, const inst& i) {
  w.scc() = F{}(rs<T>(w, i.src[0]), rs<T>(w, i.src[1]));
}
// The same with the 16-bit constant of SOPK, sign- or zero-extended by type
template <class T, class F>
void cmpk(wave& w, const inst& i) {
  const u16 k = static_cast<u16>(i.src[1].bits);
  w.scc() = F{}(rs<T>(w, i.src[0]), std::is_signed_v<T> ? static_cast<T>(static_cast<i16>(k)) : static_cast<T>(k));
}
// x: operation; the saved register gets EXEC, EXEC = f(source, EXEC)
template <class F, bool Wr>
void saveexec(wave& w, const inst& i) {
  const u64 old = w.exec(), s = w.rmask(i.src[0]), n = F{}(s, old) & w.full();
  w.wmask(i.dst[0], Wr ? n : old);
  w.set_exec(n), w.scc() = n != 0;
}
bool condition(wave& w, int x) {
  switch (x) {
    case 0: return true;
    case 1: return w.scc() == 0;
    case 2: return w.scc() != 0;
    case 3: return w.vcc() == 0;
    case 4: return w.vcc() != 0;
    case 5: return w.exec() == 0;
    default: return w.exec() != 0;
  }
}
void branch(wave& w, const inst& i) {
  if (!condition(w, i.x)) return;
  if (i.target < 0) w.die(i, "branch out of the code object");
  w.next = static_cast<u32>(i.target);
}
void jump(wave& w, const inst& i, u64 address) {
  const u64 off = address - w.launch->co->text_lo;
  const auto& index = w.launch->prog->index;
  if (off / 4 >= index.size() || index[off / 4] == ~0u) w.die(i, "jump out of the code object");
  w.next = index[off / 4];
}
u64 image_base(const wave& w) { return w.launch->co->base(); }
void getpc(wave& w, const inst& i) { w.ws64(i.dst[0], image_base(w) + i.address + i.size); }
void setpc(wave& w, const inst& i) { jump(w, i, w.rs64(i.src[0]) - image_base(w)); }
void swappc(wave& w, const inst& i) {
  const u64 t = w.rs64(i.src[0]);
  w.ws64(i.dst[0], image_base(w) + i.address + i.size);
  jump(w, i, t - image_base(w));
}
void call(wave& w, const inst& i) {
  if (i.target < 0) w.die(i, "call out of the code object");
  w.ws64(i.dst[0], image_base(w) + i.address + i.size), w.next = static_cast<u32>(i.target);
}
void endpgm(wave& w, const inst&) { w.status = wave::ended; }
void trap(wave& w, const inst& i) { w.die(i, "the kernel executed s_trap"); }
void wait(wave& w, const inst& i) {
  if (w.launch->waits) apply_wait(w, i);
}
void barrier(wave& w, const inst&) {
  if (w.launch->race) on_signal(w);
  ++w.signals, w.status = wave::at_barrier;
}
void barrier_signal(wave& w, const inst& i) {
  if (static_cast<i32>(w.rs32(i.src[0])) != -1) w.die(i, "only the workgroup barrier (-1) is implemented");
  if (w.launch->race) on_signal(w);
  ++w.signals;
}
void barrier_wait(wave& w, const inst&) { w.status = wave::at_barrier; }
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
void time(wave& w, const inst& i) {
  w.ws64(i.dst[0], w.launch->executed);
  if (w.launch->waits) issue(w, i, 0, nullptr, nullptr, 0, false, false);
}

// hwreg(NAME, offset, width)
struct hwreg {
  std::string name;
  u32 off = 0, width = 32;
};
hwreg parse_hwreg(const inst& i, const std::string& s) {
  hwreg h;
  const auto b = s.find('('), e = s.rfind(')');
  std::string t = s.substr(b + 1, e - b - 1);
  const auto c = t.find(',');
  h.name = t.substr(0, c);
  if (c != t.npos)
    h.off = static_cast<u32>(std::stoul(t.substr(c + 1))),
    h.width = static_cast<u32>(std::stoul(t.substr(t.find(',', c + 1) + 1)));
  (void)i;
  return h;
}
void getreg(wave& w, const inst& i) {
  const hwreg h = parse_hwreg(i, i.mods.at(1));
  u32 v = 0;
  if (h.name == "HW_REG_MODE")
    v = w.mode;
  else if (h.name == "HW_REG_SHADER_CYCLES" || h.name == "HW_REG_SHADER_CYCLES_LO" || h.name == "29")
    v = static_cast<u32>(w.launch->executed);
  else if (h.name == "HW_REG_SHADER_CYCLES_HI" || h.name == "30")
    v = static_cast<u32>(w.launch->executed >> 32);
  else if (h.name == "HW_REG_HW_ID" || h.name == "HW_REG_HW_ID1" || h.name == "HW_REG_HW_ID2" ||
           h.name == "HW_REG_XCC_ID" || h.name == "HW_REG_STATUS" || h.name == "HW_REG_TRAPSTS" ||
           h.name == "HW_REG_LDS_ALLOC" || h.name == "HW_REG_GPR_ALLOC" || h.name == "HW_REG_WAVE_STATUS" ||
           h.name == "HW_REG_WAVE_HW_ID1")
    v = 0;
  else
    w.die(i, "reading " + h.name + " is not implemented");
  w.ws32(i.ops[0], v >> h.off & (h.width == 32 ? ~0u : (1u << h.width) - 1));
}
void setreg(wave& w, const inst& i) {
  const hwreg h = parse_hwreg(i, i.mods.at(0));
  if (h.name != "HW_REG_MODE" && h.name != "HW_REG_WAVE_MODE") w.die(i, "writing " + h.name + " is not implemented");
  const u32 mask = (h.width == 32 ? ~0u : (1u << h.width) - 1) << h.off;
  w.mode = (w.mode & ~mask) | (w.rs32(i.ops[1]) << h.off & mask);
  if (w.mode & 15) w.die(i, "rounding modes other than to nearest are not implemented");
}
void round_mode(wave& w, const inst& i) {
  if (i.ops[0].bits & 15) w.die(i, "rounding modes other than to nearest are not implemented");
}
void denorm_mode(wave& w, const inst& i) { w.mode = (w.mode & ~0xf0u) | (static_cast<u32>(i.ops[0].bits) & 15) << 4; }
void gpr_idx(wave& w, const inst& i) {  // x: 0 on, 1 off, 2 mode, 3 idx
  switch (i.x) {
    case 0:
      w.gpr_idx = (i.raw[0] >> 8 & 15) | 16,
      w.s[s_m0] = (w.s[s_m0] & 0xffff0f00) | (w.rs32(i.ops[0]) & 255) | (w.gpr_idx & 15) << 12;
      break;
    case 1: w.gpr_idx = 0; break;
    case 2: w.gpr_idx = (i.raw[0] & 15) | 16, w.s[s_m0] = (w.s[s_m0] & 0xffff0fff) | (w.gpr_idx & 15) << 12; break;
    case 3: w.s[s_m0] = (w.s[s_m0] & ~255u) | (w.rs32(i.ops[0]) & 255); break;
  }
}
// gfx9.4 / gfx11.5+ scalar float
template <class F>
void sfloat2(wave& w, const inst& i) {
  w.ws32(i.dst[0], bits(F{}(as_f32(w.rs32(i.src[0])), as_f32(w.rs32(i.src[1])))));
}
template <class F>
void sfcmp(wave& w, const inst& i) {
  w.scc() = F{}(as_f32(w.rs32(i.src[0])), as_f32(w.rs32(i.src[1])));
}

template <class T, class F>
void r1(const char* n, F) {
  for_names(n, {&sop1<T, F>});
}
template <class T, class F>
void rb1(const char* n, F) {
  for_names(n, {&bit1<T, F>});
}
template <class T, class F>
void rb2(const char* n, F) {
  for_names(n, {&bit2<T, F>});
}
template <class T, class F>
void rsh(const char* n, F) {
  for_names(n, {&shift<T, F>});
}
template <class T, class F>
void ra2(const char* n, F) {
  for_names(n, {&alu2<T, F>});
}
template <class T, class F>
void rc(const std::string& n, F) {
  for_names(("s_cmp_" + n).c_str(), {&cmp<T, F>, 0});
  if (sizeof(T) == 4) for_names(("s_cmpk_" + n).c_str(), {&cmpk<T, F>, 0});
}
template <class F>
void rse(const char* n, F) {
  for_names(n, {&saveexec<F, false>});
}
template <class F>
void rwe(const char* n, F) {
  for_names(n, {&saveexec<F, true>});
}
template <class F>
void rf2(const char* n, F) {
  for_names(n, {&sfloat2<F>});
}
template <class F>
void rfc(const char* n, F) {
  for_names(n, {&sfcmp<F>, 0});
}
u32 reverse(u32 a) {
  u32 r = 0;
  for (int k = 0; k < 32; ++k) r |= (a >> k & 1) << (31 - k);
  return r;
}
}  // namespace

void register_salu() {
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
  for_names("s_ff1_i32_b32 s_ctz_i32_b32", {[](wave& w, const inst& i) {
              const u32 a = w.rs32(i.src[0]);
              w.ws32(i.dst[0], a ? static_cast<u32>(std::countr_zero(a)) : ~0u);
            }});
  for_names("s_ff1_i32_b64 s_ctz_i32_b64", {[](wave& w, const inst& i) {
              const u64 a = w.rs64(i.src[0]);
              w.ws32(i.dst[0], a ? static_cast<u32>(std::countr_zero(a)) : ~0u);
            }});
  for_names("s_flbit_i32_b32 s_clz_i32_u32", {[](wave& w, const inst& i) {
              const u32 a = w.rs32(i.src[0]);
              w.ws32(i.dst[0], a ? static_cast<u32>(std::countl_zero(a)) : ~0u);
            }});
  for_names("s_flbit_i32_b64 s_clz_i32_u64", {[](wave& w, const inst& i) {
              const u64 a = w.rs64(i.src[0]);
              w.ws32(i.dst[0], a ? static_cast<u32>(std::countl_zero(a)) : ~0u);
            }});
  for_names("s_flbit_i32 s_cls_i32", {[](wave& w, const inst& i) {
              const i32 a = static_cast<i32>(w.rs32(i.src[0]));
              w.ws32(i.dst[0],
                     a == 0 || a == -1 ? ~0u : static_cast<u32>(std::countl_zero(static_cast<u32>(a < 0 ? ~a : a))));
            }});
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
  for_names("s_lshl1_add_u32", {[](wave& w, const inst& i) {
              const u64 t = (static_cast<u64>(w.rs32(i.src[0])) << 1) + w.rs32(i.src[1]);
              w.ws32(i.dst[0], static_cast<u32>(t)), w.scc() = t >> 32 != 0;
            }});
  for_names("s_lshl2_add_u32", {[](wave& w, const inst& i) {
              const u64 t = (static_cast<u64>(w.rs32(i.src[0])) << 2) + w.rs32(i.src[1]);
              w.ws32(i.dst[0], static_cast<u32>(t)), w.scc() = t >> 32 != 0;
            }});
  for_names("s_lshl3_add_u32", {[](wave& w, const inst& i) {
              const u64 t = (static_cast<u64>(w.rs32(i.src[0])) << 3) + w.rs32(i.src[1]);
              w.ws32(i.dst[0], static_cast<u32>(t)), w.scc() = t >> 32 != 0;
            }});
  for_names("s_lshl4_add_u32", {[](wave& w, const inst& i) {
              const u64 t = (static_cast<u64>(w.rs32(i.src[0])) << 4) + w.rs32(i.src[1]);
              w.ws32(i.dst[0], static_cast<u32>(t)), w.scc() = t >> 32 != 0;
            }});
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
  for_names("s_movk_i32", {&movk});
  for_names("s_cmovk_i32", {&cmovk});
  for_names("s_addk_i32 s_addk_co_i32", {&addk});
  for_names("s_mulk_i32", {&mulk});
  static const char* const branches[] = {"s_branch",        "s_cbranch_scc0",  "s_cbranch_scc1",  "s_cbranch_vccz",
                                         "s_cbranch_vccnz", "s_cbranch_execz", "s_cbranch_execnz"};
  for (int k = 0; k < 7; ++k) for_names(branches[k], {&branch, 0, k});
  for_names("s_getpc_b64", {&getpc});
  for_names("s_setpc_b64", {&setpc, 0});
  for_names("s_swappc_b64", {&swappc});
  for_names("s_call_b64", {&call});
  for_names(
      "s_nop s_setprio s_sleep s_clause s_delay_alu s_sendmsg s_icache_inv s_incperflevel s_decperflevel s_setkill "
      "s_code_end s_inst_prefetch s_set_inst_prefetch_distance s_wakeup "
      "s_waitcnt_depctr s_wait_alu s_wait_idle s_version s_ttracedata s_ttracedata_imm s_dcache_inv s_dcache_wb "
      "s_gl1_inv s_wait_event s_wait_expcnt s_wait_samplecnt s_wait_bvhcnt "
      "s_prefetch_data s_prefetch_inst s_prefetch_inst_pc_rel s_prefetch_data_pc_rel s_waitcnt_expcnt s_setprio_inc_wg "
      "s_sched_barrier s_singleuse_vdst s_sethalt s_dcache_wb_vol s_dcache_inv_vol",
      {&no_operation, 0});
  for_names("s_endpgm s_endpgm_saved", {&endpgm, 0});
  for_names("s_trap", {&trap, 0});
  for_names(
      "s_waitcnt s_waitcnt_vscnt s_waitcnt_vmcnt s_waitcnt_lgkmcnt s_wait_loadcnt s_wait_storecnt s_wait_dscnt "
      "s_wait_kmcnt s_wait_loadcnt_dscnt s_wait_storecnt_dscnt",
      {&wait, 0});
  for_names("s_barrier", {&barrier, 0});
  for_names("s_barrier_signal", {&barrier_signal, 0});
  for_names("s_barrier_wait", {&barrier_wait, 0});
  for_names("s_memtime s_memrealtime", {&time});
  for_names("s_getreg_b32", {&getreg, 0});
  for_names("s_setreg_b32 s_setreg_imm32_b32", {&setreg, 0});
  for_names("s_round_mode", {&round_mode, 0});
  for_names("s_denorm_mode", {&denorm_mode, 0});
  static const char* const idx[] = {"s_set_gpr_idx_on", "s_set_gpr_idx_off", "s_set_gpr_idx_mode", "s_set_gpr_idx_idx"};
  for (int k = 0; k < 4; ++k) for_names(idx[k], {&gpr_idx, 0, k});
  for_names("s_movrels_b32", {[](wave& w, const inst& i) { w.ws32(i.dst[0], w.s[(i.src[0].reg + w.s[s_m0]) % 106]); }});
  for_names("s_movreld_b32",
            {[](wave& w, const inst& i) { w.s[(i.dst[0].reg + w.s[s_m0]) % 106] = w.rs32(i.src[0]); }});
  rf2("s_add_f32", [](float a, float b) { return a + b; });
  rf2("s_sub_f32", [](float a, float b) { return a - b; });
  rf2("s_mul_f32", [](float a, float b) { return a * b; });
  rf2("s_min_f32 s_min_num_f32", [](float a, float b) { return a != a ? b : b != b ? a : std::min(a, b); });
  rf2("s_max_f32 s_max_num_f32", [](float a, float b) { return a != a ? b : b != b ? a : std::max(a, b); });
  for_names("s_fmac_f32", {[](wave& w, const inst& i) {
              w.ws32(i.dst[0],
                     bits(std::fma(as_f32(w.rs32(i.src[0])), as_f32(w.rs32(i.src[1])), as_f32(w.rs32(i.dst[0])))));
            }});
  for_names("s_fmaak_f32 s_fmamk_f32", {[](wave& w, const inst& i) {
              w.ws32(i.dst[0],
                     bits(std::fma(as_f32(w.rs32(i.src[0])), as_f32(w.rs32(i.src[1])), as_f32(w.rs32(i.src[2])))));
            }});
  r1<u32>("s_cvt_f32_i32", [](u32 a) { return bits(static_cast<float>(static_cast<i32>(a))); });
  r1<u32>("s_cvt_f32_u32", [](u32 a) { return bits(static_cast<float>(a)); });
  r1<u32>("s_cvt_i32_f32", [](u32 a) { return saturating_int<i32>(as_f32(a)); });
  r1<u32>("s_cvt_u32_f32", [](u32 a) { return saturating_int<u32>(as_f32(a)); });
  r1<u32>("s_cvt_f16_f32", [](u32 a) { return f32_to_f16(as_f32(a)); });
  r1<u32>("s_cvt_f32_f16", [](u32 a) { return bits(f16_to_f32(static_cast<u16>(a))); });
  r1<u32>("s_cvt_hi_f32_f16", [](u32 a) { return bits(f16_to_f32(static_cast<u16>(a >> 16))); });
  r1<u32>("s_floor_f32", [](u32 a) { return bits(std::floor(as_f32(a))); });
  r1<u32>("s_ceil_f32", [](u32 a) { return bits(std::ceil(as_f32(a))); });
  r1<u32>("s_trunc_f32", [](u32 a) { return bits(std::trunc(as_f32(a))); });
  r1<u32>("s_rndne_f32", [](u32 a) { return bits(std::nearbyint(as_f32(a))); });
  rfc("s_cmp_lt_f32", [](float a, float b) { return a < b; });
  rfc("s_cmp_le_f32", [](float a, float b) { return a <= b; });
  rfc("s_cmp_gt_f32", [](float a, float b) { return a > b; });
  rfc("s_cmp_ge_f32", [](float a, float b) { return a >= b; });
  rfc("s_cmp_eq_f32", [](float a, float b) { return a == b; });
  rfc("s_cmp_lg_f32", [](float a, float b) { return a < b || a > b; });
  rfc("s_cmp_u_f32", [](float a, float b) { return a != a || b != b; });
  rfc("s_cmp_o_f32", [](float a, float b) { return a == a && b == b; });
  rfc("s_cmp_nlt_f32", [](float a, float b) { return !(a < b); });
  rfc("s_cmp_nle_f32", [](float a, float b) { return !(a <= b); });
  rfc("s_cmp_ngt_f32", [](float a, float b) { return !(a > b); });
  rfc("s_cmp_nge_f32", [](float a, float b) { return !(a >= b); });
  rfc("s_cmp_neq_f32", [](float a, float b) { return !(a == b); });
  rfc("s_cmp_nlg_f32", [](float a, float b) { return !(a < b || a > b); });
}
}  // namespace emu
