// SPDX-License-Identifier: MIT
// Conversions between number formats.
#include "valu.hpp"

namespace emu {
namespace {
u32 pack(u32 lo, u32 hi) { return (lo & 0xffff) | hi << 16; }
bool fnuz(const wave& w) { return w.fam == family::gfx9 && !w.gfx950; }
// cvt_f32_fp8 / bf8 (x = bf8), cvt_pk_f32_*: y = 1
void from_f8(wave& w, const inst& i) {
  row a;
  const bool pk = i.name.find("_pk_") != std::string::npos;
  fetch(w, i, 0, kind::i32, a);
  const float* t = i.x ? f8().bf8[fnuz(w)] : f8().fp8[fnuz(w)];
  u32 sel = i.byte_sel;
  if (!i.sdwa && i.op_sel)
    sel = pk ? i.op_sel & 1 : w.fam == family::gfx12 ? (i.op_sel & 1) << 1 | (i.op_sel >> 1 & 1) : i.op_sel & 3;
  if (pk && i.src[0].half == 2) sel = 1;
  u32 lo[64], hi[64];
  for (u32 l = 0; l < w.lanes; ++l) {
    const u32 x = a.lo[l] >> sel * (pk ? 16 : 8);
    lo[l] = bits(t[x & 255]), hi[l] = bits(t[x >> 8 & 255]);
  }
  if (pk)
    store64(w, i, i.dst[0], lo, hi, active(w, i));
  else
    store32(w, i, i.dst[0], lo, active(w, i));
}
const small_float& f8_format(const wave& w, bool bf) {
  return fnuz(w) ? (bf ? bf8_fnuz : fp8_fnuz) : (bf ? bf8_ocp : fp8_ocp);
}
// FP16_OVFL (MODE bit 23) selects saturation.
bool saturate(const wave& w) { return w.mode >> 23 & 1; }
void pk_to_f8(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind::f32, a), fetch(w, i, 1, kind::f32, b);
  const bool hi = i.dst_hi || i.dst[0].half == 2;
  u32* d = w.v(i.dst[0].reg);
  for (u64 m = active(w, i); m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const auto& f = f8_format(w, i.x);
    const u32 v = f32_to_small(as_f32(a.lo[l]), f, saturate(w)) | f32_to_small(as_f32(b.lo[l]), f, saturate(w)) << 8;
    d[l] = hi ? (d[l] & 0xffff) | v << 16 : (d[l] & 0xffff0000u) | v;
  }
}
// Stochastic rounding: random bits are added below the kept mantissa, then truncation. Not compared with hardware.
u32 round_stochastically(u32 value, u32 random, int mantissa) {
  if ((value & 0x7f800000) == 0x7f800000) return value;
  return (value + (random >> (9 + mantissa))) & ~((1u << (23 - mantissa)) - 1);
}
void sr_to_16(wave& w, const inst& i) {  // x: to bf16, else to f16
  row a, b;
  fetch(w, i, 0, kind::f32, a), fetch(w, i, 1, kind::i32, b);
  u32* d = w.v(i.dst[0].reg);
  for (u64 m = active(w, i); m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const float rounded = as_f32(round_stochastically(a.lo[l], b.lo[l], i.x ? 7 : 10));
    const u32 v = i.x ? f32_to_bf16(rounded) : f32_to_f16(rounded);
    d[l] = i.dst_hi ? (d[l] & 0xffff) | v << 16 : (d[l] & 0xffff0000u) | v;
  }
}
void sr_to_f8(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind::f32, a), fetch(w, i, 1, kind::i32, b);
  const u32 byte = i.op_sel ? i.op_sel >> 2 & 3 : i.byte_sel;
  const int man = i.x ? 2 : 3;
  u32* d = w.v(i.dst[0].reg);
  for (u64 m = active(w, i); m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const float rounded = as_f32(round_stochastically(a.lo[l], b.lo[l], man));
    const u32 v = f32_to_small(rounded, f8_format(w, i.x), saturate(w));
    d[l] = (d[l] & ~(255u << 8 * byte)) | v << 8 * byte;
  }
}
// Conversions with a scale (gfx950). Of the scale, a float, only the exponent counts. x: the small format, then the
// large one.
enum scaled_format { s_fp8, s_bf8, s_fp4, s_f32, s_f16, s_bf16 };
const small_float& small_format(int format) { return format == s_fp8 ? fp8_ocp : format == s_bf8 ? bf8_ocp : fp4_e2m1; }
int scale_exponent(u32 scale) { return static_cast<int>(scale >> 23 & 255) - 127; }
float large_value(int format, const row& a, const row& b, u32 l, int which) {
  if (format == s_f32) return as_f32((which ? b : a).lo[l]);
  const u16 h = static_cast<u16>(a.lo[l] >> 16 * which);
  return format == s_f16 ? f16_to_f32(h) : bf16_to_f32(h);
}
void scaled_to_small(wave& w, const inst& i) {
  const int small = i.x & 15, large = i.x >> 4, bits_of = small == s_fp4 ? 4 : 8;
  row a, b, scale;
  const kind source = large == s_f32 ? kind::f32 : kind::i32;
  fetch(w, i, 0, source, a), fetch(w, i, 1, source, b);
  fetch(w, i, large == s_f32 ? 2 : 1, kind::i32, scale);
  // Two results: a byte of fp4, chosen by op_sel[3:2], or half a register, chosen by op_sel[3].
  const u32 sel = i.raw[0] >> 13 & 3, shift = small == s_fp4 ? 8 * sel : 16 * (sel >> 1);
  u32* d = w.v(i.dst[0].reg);
  for (u64 m = active(w, i); m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m));
    u32 v = 0;
    for (int k = 0; k < 2; ++k) {
      const double x = std::ldexp(static_cast<double>(large_value(large, a, b, l, k)), -scale_exponent(scale.lo[l]));
      v |= f32_to_small(x, small_format(small), saturate(w)) << bits_of * k;
    }
    const u32 mask = (small == s_fp4 ? 0xffu : 0xffffu) << shift;
    d[l] = (d[l] & ~mask) | v << shift;
  }
}
void scaled_from_small(wave& w, const inst& i) {
  const int small = i.x & 15, large = i.x >> 4, bits_of = small == s_fp4 ? 4 : 8;
  row a, scale;
  fetch(w, i, 0, kind::i32, a), fetch(w, i, 1, kind::i32, scale);
  const u32 sel = i.raw[0] >> 11 & 3, shift = small == s_fp4 ? 8 * sel : 16 * (sel & 1);
  u32 lo[64], hi[64];
  for (u32 l = 0; l < w.lanes; ++l) {
    float v[2];
    for (int k = 0; k < 2; ++k)
      v[k] = std::ldexp(small_to_f32(a.lo[l] >> (shift + bits_of * k) & ((1u << bits_of) - 1), small_format(small)),
                        scale_exponent(scale.lo[l]));
    lo[l] = large == s_f32   ? bits(v[0])
            : large == s_f16 ? pack(f32_to_f16(v[0]), f32_to_f16(v[1]))
                             : pack(f32_to_bf16(v[0]), f32_to_bf16(v[1]));
    hi[l] = bits(v[1]);
  }
  if (large == s_f32)
    store64(w, i, i.dst[0], lo, hi, active(w, i));
  else
    store32(w, i, i.dst[0], lo, active(w, i));
}
void register_scaled() {
  const char* names[] = {"fp8", "bf8", "fp4", "f32", "f16", "bf16"};
  for (int small : {s_fp8, s_bf8, s_fp4})
    for (int large : {s_f32, s_f16, s_bf16}) {
      const std::string s = names[small], l = names[large], prefix = "v_cvt_scalef32_pk_";
      for_names((prefix + s + "_" + l).c_str(), {&scaled_to_small, 1, small | large << 4, true});
      for_names((prefix + l + "_" + s).c_str(), {&scaled_from_small, 1, small | large << 4, true});
    }
}
void cvt_pk_u8(wave& w, const inst& i) {
  row a, b, c;
  fetch(w, i, 0, kind::f32, a), fetch(w, i, 1, kind::i32, b), fetch(w, i, 2, kind::i32, c);
  store_results<u32>(w, i, active(w, i), [&](u32 l) {
    const u32 sh = 8 * (b.lo[l] & 3);
    return (c.lo[l] & ~(255u << sh)) | saturating_int<u8>(as_f32(a.lo[l])) << sh;
  });
}
float unit(float x) { return x != x ? 0 : std::clamp(x, 0.0f, 1.0f); }
float sunit(float x) { return x != x ? 0 : std::clamp(x, -1.0f, 1.0f); }
}  // namespace

void register_valu_cvt() {
  reg1<half, float>("v_cvt_f16_f32", [](float a) { return a; });
  reg1<float, half>("v_cvt_f32_f16", [](float a) { return a; });
  reg1<float, bhalf>("v_cvt_f32_bf16", [](float a) { return a; });
  reg1<double, float>("v_cvt_f64_f32", [](float a) { return static_cast<double>(a); });
  reg1<float, double>("v_cvt_f32_f64", [](double a) { return static_cast<float>(a); });
  reg1<float, i32>("v_cvt_f32_i32", [](i32 a) { return static_cast<float>(a); });
  reg1<float, u32>("v_cvt_f32_u32", [](u32 a) { return static_cast<float>(a); });
  reg1<double, i32>("v_cvt_f64_i32", [](i32 a) { return static_cast<double>(a); });
  reg1<double, u32>("v_cvt_f64_u32", [](u32 a) { return static_cast<double>(a); });
  reg1<i32, float>("v_cvt_i32_f32", [](float a) { return saturating_int<i32>(a); });
  reg1<u32, float>("v_cvt_u32_f32", [](float a) { return saturating_int<u32>(a); });
  reg1<i32, float>("v_cvt_rpi_i32_f32 v_cvt_nearest_i32_f32",
                   [](float a) { return saturating_int<i32>(std::floor(a + 0.5f)); });
  reg1<i32, float>("v_cvt_flr_i32_f32 v_cvt_floor_i32_f32", [](float a) { return saturating_int<i32>(std::floor(a)); });
  reg1<i32, double>("v_cvt_i32_f64", [](double a) { return saturating_int<i32>(a); });
  reg1<u32, double>("v_cvt_u32_f64", [](double a) { return saturating_int<u32>(a); });
  reg1<half, i16>("v_cvt_f16_i16", [](i16 a) { return static_cast<float>(a); });
  reg1<half, u16>("v_cvt_f16_u16", [](u16 a) { return static_cast<float>(a); });
  reg1<i16, half>("v_cvt_i16_f16", [](float a) { return saturating_int<i16>(a); });
  reg1<u16, half>("v_cvt_u16_f16", [](float a) { return saturating_int<u16>(a); });
  reg1<i32, i16>("v_cvt_i32_i16", [](i16 a) { return static_cast<i32>(a); });
  reg1<u32, u16>("v_cvt_u32_u16", [](u16 a) { return static_cast<u32>(a); });
  reg1<float, u32>("v_cvt_f32_ubyte0", [](u32 a) { return static_cast<float>(a & 255); });
  reg1<float, u32>("v_cvt_f32_ubyte1", [](u32 a) { return static_cast<float>(a >> 8 & 255); });
  reg1<float, u32>("v_cvt_f32_ubyte2", [](u32 a) { return static_cast<float>(a >> 16 & 255); });
  reg1<float, u32>("v_cvt_f32_ubyte3", [](u32 a) { return static_cast<float>(a >> 24); });
  reg1<float, u32>("v_cvt_off_f32_i4", [](u32 a) { return static_cast<float>(static_cast<i32>(a << 28) >> 28) / 16; });
  reg2<u32, float>("v_cvt_pkrtz_f16_f32 v_cvt_pk_rtz_f16_f32",
                   [](float a, float b) { return pack(f32_to_f16_rtz(a), f32_to_f16_rtz(b)); });
  reg2<u32, float>("v_cvt_pk_f16_f32", [](float a, float b) { return pack(f32_to_f16(a), f32_to_f16(b)); });
  reg2<u32, float>("v_cvt_pk_bf16_f32", [](float a, float b) { return pack(f32_to_bf16(a), f32_to_bf16(b)); });
  reg2<u32, u32>("v_cvt_pk_u16_u32", [](u32 a, u32 b) { return pack(std::min(a, 65535u), std::min(b, 65535u)); });
  reg2<u32, i32>("v_cvt_pk_i16_i32", [](i32 a, i32 b) {
    return pack(static_cast<u32>(std::clamp(a, -32768, 32767)), static_cast<u32>(std::clamp(b, -32768, 32767)));
  });
  reg2<u32, float>("v_cvt_pk_i16_f32", [](float a, float b) {
    return pack(static_cast<u16>(saturating_int<i16>(a)), static_cast<u16>(saturating_int<i16>(b)));
  });
  reg2<u32, float>("v_cvt_pk_u16_f32",
                   [](float a, float b) { return pack(saturating_int<u16>(a), saturating_int<u16>(b)); });
  reg2<u32, float>("v_cvt_pknorm_i16_f32 v_cvt_pk_norm_i16_f32", [](float a, float b) {
    return pack(static_cast<u32>(static_cast<i32>(std::nearbyint(sunit(a) * 32767))),
                static_cast<u32>(static_cast<i32>(std::nearbyint(sunit(b) * 32767))));
  });
  reg2<u32, float>("v_cvt_pknorm_u16_f32 v_cvt_pk_norm_u16_f32", [](float a, float b) {
    return pack(static_cast<u32>(std::nearbyint(unit(a) * 65535)), static_cast<u32>(std::nearbyint(unit(b) * 65535)));
  });
  reg2<u32, u16>("v_pack_b32_f16", [](u16 a, u16 b) { return pack(a, b); });
  for_names("v_cvt_pk_u8_f32", {&cvt_pk_u8});
  for_names("v_cvt_f32_fp8 v_cvt_pk_f32_fp8", {&from_f8});
  for_names("v_cvt_f32_bf8 v_cvt_pk_f32_bf8", {&from_f8, 1, 1});
  for_names("v_cvt_pk_fp8_f32", {&pk_to_f8, 1, 0, true});
  for_names("v_cvt_pk_bf8_f32", {&pk_to_f8, 1, 1, true});
  register_scaled();
  for_names("v_cvt_sr_f16_f32", {&sr_to_16, 1, 0, true});
  for_names("v_cvt_sr_bf16_f32", {&sr_to_16, 1, 1, true});
  for_names("v_cvt_sr_fp8_f32", {&sr_to_f8, 1, 0, true});
  for_names("v_cvt_sr_bf8_f32", {&sr_to_f8, 1, 1, true});
}
}  // namespace emu
