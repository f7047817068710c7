// SPDX-License-Identifier: MIT
// Functions of floats (exp, log, rcp, sin), and the helpers of division.
#include "valu.hpp"

namespace emu {
namespace {
constexpr double tau = 6.283185307179586476925286766559;
float sin_turns(float x) {
  return std::isinf(x)
             ? NAN
             : static_cast<float>(std::sin(tau * (static_cast<double>(x) - std::floor(static_cast<double>(x)))));
}
float cos_turns(float x) {
  return std::isinf(x)
             ? NAN
             : static_cast<float>(std::cos(tau * (static_cast<double>(x) - std::floor(static_cast<double>(x)))));
}
// v_exp_f32, v_log_f32, v_sqrt_f32 and v_rsq_f32 flush f32 denormals whatever the mode; v_rcp_f32 does not here, or
// division would lose small quotients.
float exp2_hw(float x) { return flush(static_cast<float>(std::exp2(static_cast<double>(flush(x))))); }
// The same for all lanes. A polynomial in double decides every value that is not close to the middle of two floats.
void exp2_lanes(wave& w, const inst& i) {
  constexpr double close = 1e-14, ln2 = 0.693147180559945309417;
  row a;
  fetch(w, i, 0, kind::f32, a);
  alignas(64) u32 result[64], unsure[64];
  each_lane(w, [&](u64 l) {
    const float x = flush(as_f32(a.lo[l])), bounded = x < -200 ? -200 : x > 200 ? 200 : x;
    const double shifted = static_cast<double>(bounded) + 0x1.8p52, z = (bounded - (shifted - 0x1.8p52)) * ln2;
    double p = 1.0 / 6227020800;  // Taylor: |z| <= ln(2) / 2
    p = p * z + 1.0 / 479001600, p = p * z + 1.0 / 39916800, p = p * z + 1.0 / 3628800, p = p * z + 1.0 / 362880;
    p = p * z + 1.0 / 40320, p = p * z + 1.0 / 5040, p = p * z + 1.0 / 720, p = p * z + 1.0 / 120;
    p = p * z + 1.0 / 24, p = p * z + 1.0 / 6, p = p * z + 0.5, p = p * z + 1, p = p * z + 1;
    const double power = as_f64((bits(shifted) - bits(0x1.8p52) + 1023) << 52), y = p * power;
    const u32 low = bits(static_cast<float>(y - y * close)), high = bits(static_cast<float>(y + y * close));
    result[l] = bits(flush(as_f32(low))), unsure[l] = (low != high) | (x != x);
  });
  for (u64 m = lanes_where(w, [&](u64 l) { return unsure[l] != 0; }); m; m &= m - 1) {
    const int l = std::countr_zero(m);
    result[l] = bits(exp2_hw(as_f32(a.lo[l])));
  }
  store_results<float>(w, i, active(w, i), [&](u32 l) { return as_f32(result[l]); });
}
float log2_hw(float x) { return static_cast<float>(std::log2(static_cast<double>(flush(x)))); }
int frexp_exp(double x) {
  if (x == 0 || x != x || std::isinf(x)) return 0;
  int e;
  std::frexp(x, &e);
  return e;
}
template <class T>
T frexp_mant(T x) {
  int e;
  return x == 0 || x != x || std::isinf(x) ? x : std::frexp(x, &e);
}

// The division helpers.
template <class T>
bool is_sub(T x) {
  return x != 0 && std::fabs(x) < std::numeric_limits<T>::min();
}
// The quotient of nonzero numbers is subnormal or underflows to zero.
template <class T>
bool underflows(T a, T b) {
  return !std::isinf(b) && std::fabs(a / b) < std::numeric_limits<T>::min();
}
template <class T, class U>
void div_scale(wave& w, const inst& i) {
  constexpr bool dbl = sizeof(T) == 8;
  constexpr int scale = dbl ? 128 : 64, far = dbl ? 768 : 96, tiny = dbl ? 53 : 23, man = dbl ? 52 : 23,
                emask = dbl ? 0x7ff : 0xff;
  row a, b, c;
  fetch(w, i, 0, kind_of<T>(), a), fetch(w, i, 1, kind_of<T>(), b), fetch(w, i, 2, kind_of<T>(), c);
  u64 flags = 0;
  const u64 lanes = active(w, i);
  store_results<T>(w, i, lanes, [&](u32 l) {
    const T s0 = load<T>(a, l), s1 = load<T>(b, l), s2 = load<T>(c, l);
    const int e1 = static_cast<int>(std::bit_cast<U>(s1) >> man & emask),
              e2 = static_cast<int>(std::bit_cast<U>(s2) >> man & emask);
    bool f = false;
    T d = s0;
    if (s2 == 0 || s1 == 0)
      d = std::numeric_limits<T>::quiet_NaN();
    else if (e2 - e1 >= far) {
      f = true;
      if (s0 == s1) d = std::ldexp(s0, scale);
    } else if (is_sub(s1))
      d = std::ldexp(s0, scale);
    else if (dbl && is_sub(T(1) / s1) && underflows(s2, s1)) {
      f = true;
      if (s0 == s1) d = std::ldexp(s0, scale);
    } else if (dbl && is_sub(T(1) / s1))
      d = std::ldexp(s0, -scale);
    else if (underflows(s2, s1)) {
      f = true;
      if (s0 == s2) d = std::ldexp(s0, scale);
    } else if (e2 <= tiny)
      d = std::ldexp(s0, scale);
    flags |= static_cast<u64>(f) << l;
    return d;
  });
  w.wmask(i.dst[1], flags & lanes);
}
template <class T, class U>
void div_fmas(wave& w, const inst& i) {
  constexpr bool dbl = sizeof(T) == 8;
  row a, b, c;
  fetch(w, i, 0, kind_of<T>(), a), fetch(w, i, 1, kind_of<T>(), b), fetch(w, i, 2, kind_of<T>(), c);
  const u64 vcc = w.vcc();
  store_results<T>(w, i, active(w, i), [&](u32 l) {
    const T s0 = load<T>(a, l), s1 = load<T>(b, l), s2 = load<T>(c, l);
    if (!(vcc >> l & 1)) return std::fma(s0, s1, s2);
    if constexpr (dbl)
      return std::ldexp(std::fma(s0, s1, s2), static_cast<int>(std::bit_cast<U>(s2) >> 52 & 0x7ff) > 1023 ? 128 : -128);
    else
      return static_cast<T>(
          std::ldexp(std::fma(static_cast<double>(s0), static_cast<double>(s1), static_cast<double>(s2)),
                     static_cast<int>(std::bit_cast<U>(s2) >> 23 & 0xff) > 127 ? 64 : -64));
  });
}
template <class T>
T div_fixup(T s0, T s1, T s2) {
  const bool neg = std::signbit(s1) != std::signbit(s2);
  const T inf = std::numeric_limits<T>::infinity();
  if (s2 != s2) return s2;
  if (s1 != s1) return s1;
  if ((s1 == 0 && s2 == 0) || (std::isinf(s1) && std::isinf(s2))) return -std::numeric_limits<T>::quiet_NaN();
  if (s1 == 0 || std::isinf(s2)) return neg ? -inf : inf;
  if (std::isinf(s1) || s2 == 0) return neg ? T(-0.0) : T(0);
  if (s0 != s0) return neg ? -inf : inf;
  return neg ? -std::fabs(s0) : std::fabs(s0);
}
// The transcendental functions of scalar operands (gfx12).
template <class T, class F>
void scalar_function(wave& w, const inst& i) {
  const operand& source = i.src[0];
  const u32 raw = w.rs32(source);
  float x = std::is_same_v<T, half> ? f16_to_f32(static_cast<u16>(raw)) : as_f32(raw);
  if (source.abs) x = std::fabs(x);
  if (source.neg) x = -x;
  const auto y = F{}(x);
  if constexpr (std::is_same_v<T, half>)
    w.ws32(i.dst[0], f64_to_f16(y));
  else
    w.ws32(i.dst[0], bits(y));
}
// The same function for lanes (v_exp_f32) and for scalar operands (v_s_exp_f32).
template <class T, class F>
void reg_function(const std::string& name, F f) {
  reg1<T, T>(("v_" + name).c_str(), f);
  for_names(("v_s_" + name).c_str(), {&scalar_function<T, F>, 1, 0, true});
}
}  // namespace

void register_valu_functions() {
  reg3<float, float>("v_div_fixup_f32", [](float a, float b, float c) { return div_fixup(a, b, c); });
  reg1<float, float>("v_rcp_iflag_f32", [](float a) { return 1.0f / a; });
  reg_function<float>("rcp_f32", [](float a) { return 1.0f / a; });
  reg_function<float>("rsq_f32",
                      [](float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(flush(a)))); });
  reg_function<float>("sqrt_f32", [](float a) { return std::sqrt(flush(a)); });
  reg_function<float>("exp_f32", [](float a) { return exp2_hw(a); });
  for_names("v_exp_f32", {fastest<&exp2_lanes>(), 1, 0, true});
  reg_function<float>("log_f32", [](float a) { return log2_hw(a); });
  reg1<float, float>("v_sin_f32", [](float a) { return sin_turns(a); });
  reg1<float, float>("v_cos_f32", [](float a) { return cos_turns(a); });
  reg1<i32, float>("v_frexp_exp_i32_f32", [](float a) { return frexp_exp(a); });
  reg1<float, float>("v_frexp_mant_f32", [](float a) { return frexp_mant(a); });
  reg2<float, float, i32>("v_ldexp_f32", [](float a, i32 b) {
    return static_cast<float>(std::ldexp(static_cast<double>(a), std::clamp(b, -400, 400)));
  });
  for_names("v_div_scale_f32", {&div_scale<float, u32>, 2, 0, true});
  for_names("v_div_scale_f64", {&div_scale<double, u64>, 2, 0, true});
  for_names("v_div_fmas_f32", {&div_fmas<float, u32>, 1, 0, true});
  for_names("v_div_fmas_f64", {&div_fmas<double, u64>, 1, 0, true});
  reg3<double, double>("v_div_fixup_f64", [](double a, double b, double c) { return div_fixup(a, b, c); });
  reg1<double, double>("v_rcp_f64", [](double a) { return 1.0 / a; });
  reg1<double, double>("v_rsq_f64", [](double a) { return 1.0 / std::sqrt(a); });
  reg1<double, double>("v_sqrt_f64", [](double a) { return std::sqrt(a); });
  reg1<i32, double>("v_frexp_exp_i32_f64", [](double a) { return frexp_exp(a); });
  reg1<double, double>("v_frexp_mant_f64", [](double a) { return frexp_mant(a); });
  reg2<double, double, i32>("v_ldexp_f64", [](double a, i32 b) { return std::ldexp(a, std::clamp(b, -3000, 3000)); });

  reg3<half, half>("v_div_fixup_f16", [](float a, float b, float c) { return div_fixup(a, b, c); });
  reg_function<half>("rcp_f16", [](float a) { return 1.0 / static_cast<double>(a); });
  reg_function<half>("rsq_f16", [](float a) { return 1.0 / std::sqrt(static_cast<double>(a)); });
  reg_function<half>("sqrt_f16", [](float a) { return std::sqrt(static_cast<double>(a)); });
  reg_function<half>("exp_f16", [](float a) { return std::exp2(static_cast<double>(a)); });
  reg_function<half>("log_f16", [](float a) { return std::log2(static_cast<double>(a)); });
  reg1<half, half>("v_sin_f16", [](float a) { return sin_turns(a); });
  reg1<half, half>("v_cos_f16", [](float a) { return cos_turns(a); });
  reg1<i16, half>("v_frexp_exp_i16_f16", [](float a) { return static_cast<i16>(frexp_exp(a)); });
  reg1<half, half>("v_frexp_mant_f16", [](float a) { return frexp_mant(a); });
  reg2<half, half, i16>("v_ldexp_f16", [](float a, i16 b) { return std::ldexp(static_cast<double>(a), b); });
}
}  // namespace emu
