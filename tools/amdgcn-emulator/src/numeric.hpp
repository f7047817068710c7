// SPDX-License-Identifier: MIT
// Number formats: binary16, bfloat16, the 8-, 6- and 4-bit floats, and helpers on bit patterns.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace emu {
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

inline __attribute__((always_inline)) u32 bits(float f) { return std::bit_cast<u32>(f); }
inline __attribute__((always_inline)) u64 bits(double f) { return std::bit_cast<u64>(f); }
inline __attribute__((always_inline)) float as_f32(u32 u) { return std::bit_cast<float>(u); }
inline __attribute__((always_inline)) double as_f64(u64 u) { return std::bit_cast<double>(u); }
inline i64 sign_extend(u64 v, int n) { return static_cast<i64>(v << (64 - n)) >> (64 - n); }

inline __attribute__((always_inline)) float f16_to_f32(u16 h) {  // no branches: loops over it vectorise
  const u32 s = (h & 0x8000u) << 16, m = h & 0x7fffu;
  const u32 normal = (m << 13) + 0x38000000u, special = 0x7f800000u | (m & 0x3ff) << 13,
            tiny = bits(static_cast<float>(static_cast<i32>(m)) * 0x1p-24f);
  return as_f32(s | (m < 0x400 ? tiny : m >= 0x7c00 ? special : normal));
}
// Round to nearest even.
inline __attribute__((always_inline)) u16 f32_to_f16(float f) {
  const u32 u = bits(f), s = u >> 16 & 0x8000, a = u & 0x7fffffff;
  const u32 nan = 0x7e00 | (a >> 13 & 0x3ff), tiny = bits(as_f32(a) + 0.5f) - 0x3f000000u,
            normal = (a + 0xfff + (a >> 13 & 1) - 0x38000000u) >> 13;
  const u32 finite = a < 0x38800000 ? tiny : normal, number = a >= 0x477ff000 ? 0x7c00 : finite;
  return static_cast<u16>(s | (a > 0x7f800000 ? nan : number));
}
// Towards zero (v_cvt_pkrtz): finite values never become infinity.
inline u16 f32_to_f16_rtz(float f) {
  const u16 h = f32_to_f16(f);
  if (f != f || std::isinf(f)) return h;
  if ((h & 0x7fff) == 0x7c00) return static_cast<u16>(h - 1);
  return std::fabs(f16_to_f32(h)) > std::fabs(f) ? static_cast<u16>(h - 1) : h;
}
// Narrowing with the last bit sticky, so that a second rounding to fewer bits is exact.
inline __attribute__((always_inline)) float f64_to_f32_odd(double d) {
  const float f = static_cast<float>(d);
  const double back = static_cast<double>(f);
  const u32 too_large = std::fabs(back) > std::fabs(d) ? 1 : 0, sticky = (back < d) | (back > d);
  return as_f32((bits(f) - too_large) | sticky);
}
inline __attribute__((always_inline)) u16 f64_to_f16(double d) { return f32_to_f16(f64_to_f32_odd(d)); }

inline __attribute__((always_inline)) float bf16_to_f32(u16 h) { return as_f32(static_cast<u32>(h) << 16); }
inline __attribute__((always_inline)) u16 f32_to_bf16(float f) {
  const u32 u = bits(f);
  const u32 nan = u >> 16 | 0x40, number = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  return static_cast<u16>((u & 0x7fffffff) > 0x7f800000 ? nan : number);
}

// The small floats. `fnuz` is gfx942's flavour: no infinity, no negative zero, bias one larger, NaN is 0x80.
struct small_float {
  int exp_bits, man_bits, bias;
  bool fnuz, has_inf, has_nan;
};
inline constexpr small_float fp8_ocp{4, 3, 7, false, false, true}, bf8_ocp{5, 2, 15, false, true, true};
inline constexpr small_float fp8_fnuz{4, 3, 8, true, false, true}, bf8_fnuz{5, 2, 16, true, false, true};
inline constexpr small_float fp6_e2m3{2, 3, 1, false, false, false}, bf6_e3m2{3, 2, 3, false, false, false},
    fp4_e2m1{2, 1, 1, false, false, false};

inline float small_to_f32(u32 v, const small_float& t) {
  const u32 s = v >> (t.exp_bits + t.man_bits) & 1, e_max = (1u << t.exp_bits) - 1, e = v >> t.man_bits & e_max,
            m = v & ((1u << t.man_bits) - 1);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if (t.fnuz) {
    if (s && !e && !m) return nan;
  } else if (t.has_inf && e == e_max) {
    const float r = m ? nan : std::numeric_limits<float>::infinity();
    return s ? -r : r;
  } else if (t.has_nan && !t.has_inf && e == e_max && m == (1u << t.man_bits) - 1) {
    return nan;
  }
  const float f = std::ldexp(static_cast<float>(m), -t.man_bits);
  const float r = e ? std::ldexp(1.0f + f, static_cast<int>(e) - t.bias) : std::ldexp(f, 1 - t.bias);
  return s ? -r : r;
}
// Round to nearest even; `saturate` clamps finite overflow to the largest number.
inline u32 f32_to_small(double f, const small_float& t, bool saturate) {
  const int top = t.exp_bits + t.man_bits;
  const u32 s = (std::signbit(f) ? 1u : 0u) << top, inf_code = ((1u << t.exp_bits) - 1) << t.man_bits;
  const u32 nan = t.fnuz ? 1u << top : s | ((1u << top) - 1);
  const u32 max = t.fnuz || !t.has_nan ? (1u << top) - 1 : t.has_inf ? inf_code - 1 : (1u << top) - 2;
  const u32 over = !t.has_nan || saturate ? s | max : t.fnuz ? nan : t.has_inf ? s | inf_code : nan;
  if (f != f) return t.has_nan ? nan : s | max;
  const double a = std::fabs(f);
  if (std::isinf(f)) return over;
  if (a == 0) return t.fnuz ? 0 : s;
  int e;
  std::frexp(a, &e);
  e = e - 1 < 1 - t.bias ? 1 - t.bias : e - 1;
  double q = std::nearbyint(std::ldexp(a, t.man_bits - e));
  if (q >= static_cast<double>(2u << t.man_bits)) q /= 2, ++e;
  const u32 qi = static_cast<u32>(q), one = 1u << t.man_bits;
  const u32 v = qi < one ? qi : (static_cast<u32>(e + t.bias) << t.man_bits) + (qi - one);
  if (v > max) return over;
  return v == 0 && t.fnuz ? 0 : s | v;
}

// 256-entry tables for the 8-bit formats: [fnuz][value].
struct f8_tables {
  float fp8[2][256], bf8[2][256];
  f8_tables() {
    for (u32 i = 0; i < 256; ++i) {
      fp8[0][i] = small_to_f32(i, fp8_ocp), fp8[1][i] = small_to_f32(i, fp8_fnuz);
      bf8[0][i] = small_to_f32(i, bf8_ocp), bf8[1][i] = small_to_f32(i, bf8_fnuz);
    }
  }
};
inline const f8_tables& f8() {
  static const f8_tables t;
  return t;
}

// Float to integer as the hardware does it: truncate, saturate, NaN becomes 0.
template <class I, class F>
inline I saturating_int(F f) {
  if (f != f) return 0;
  constexpr F lo = static_cast<F>(std::numeric_limits<I>::min());
  if (f <= lo) return std::numeric_limits<I>::min();
  if (f >= -static_cast<F>(std::numeric_limits<std::make_signed_t<I>>::min()) * (std::is_signed_v<I> ? 1 : 2))
    return std::numeric_limits<I>::max();
  return static_cast<I>(f);
}
}  // namespace emu
