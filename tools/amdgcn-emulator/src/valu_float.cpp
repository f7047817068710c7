// SPDX-License-Identifier: MIT
// Floating-point vector arithmetic.
#include "valu.hpp"

namespace emu {
namespace {
// IEEE-754 minNum / maxNum as the hardware does it: a NaN loses, -0 < +0.
template <class T>
T fmin_hw(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T fmax_hw(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T>
T minimum(T a, T b) {
  return a != a ? a : b != b ? b : fmin_hw(a, b);
}
template <class T>
T maximum(T a, T b) {
  return a != a ? a : b != b ? b : fmax_hw(a, b);
}
template <class T>
T med3(T a, T b, T c) {
  if (a != a || b != b || c != c) return fmin_hw(fmin_hw(a, b), c);
  const T m = fmax_hw(fmax_hw(a, b), c);
  return m == a ? fmax_hw(b, c) : m == b ? fmax_hw(a, c) : fmax_hw(a, b);
}
template <class T>
T fract(T x) {
  const T r = x - std::floor(x),
          top = sizeof(T) == 8 ? static_cast<T>(0x1.fffffffffffffp-1) : static_cast<T>(0x1.fffffep-1f);
  return r < top ? r : r != r ? r : top;
}
}  // namespace

void register_valu_float() {
  // f32
  reg2<float, float>("v_add_f32", [](float a, float b) { return a + b; });
  reg2<float, float>("v_sub_f32", [](float a, float b) { return a - b; });
  reg2<float, float>("v_subrev_f32", [](float a, float b) { return b - a; });
  reg2<float, float>("v_mul_f32", [](float a, float b) { return a * b; });
  reg2<float, float>("v_mul_legacy_f32 v_mul_dx9_zero_f32",
                     [](float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; });
  reg2<float, float>("v_min_f32 v_min_num_f32", [](float a, float b) { return fmin_hw(a, b); });
  reg2<float, float>("v_max_f32 v_max_num_f32", [](float a, float b) { return fmax_hw(a, b); });
  reg2<float, float>("v_minimum_f32", [](float a, float b) { return minimum(a, b); });
  reg2<float, float>("v_maximum_f32", [](float a, float b) { return maximum(a, b); });
  reg3<float, float>("v_fma_f32 v_fmaak_f32 v_fmamk_f32", [](float a, float b, float c) { return std::fma(a, b, c); });
  reg_acc<float, float>("v_fmac_f32", [](float a, float b, float c) { return std::fma(a, b, c); });
  reg3<float, float>("v_mad_f32 v_madak_f32 v_madmk_f32",
                     [](float a, float b, float c) { return flush(flush(a * b) + c); });
  reg_acc<float, float>("v_mac_f32", [](float a, float b, float c) { return flush(flush(a * b) + c); });
  reg3<float, float>("v_min3_f32 v_min3_num_f32", [](float a, float b, float c) { return fmin_hw(fmin_hw(a, b), c); });
  reg3<float, float>("v_max3_f32 v_max3_num_f32", [](float a, float b, float c) { return fmax_hw(fmax_hw(a, b), c); });
  reg3<float, float>("v_minimum3_f32", [](float a, float b, float c) { return minimum(minimum(a, b), c); });
  reg3<float, float>("v_maximum3_f32", [](float a, float b, float c) { return maximum(maximum(a, b), c); });
  reg3<float, float>("v_med3_f32 v_med3_num_f32", [](float a, float b, float c) { return med3(a, b, c); });
  reg3<float, float>("v_maxmin_f32 v_maxmin_num_f32",
                     [](float a, float b, float c) { return fmin_hw(fmax_hw(a, b), c); });
  reg3<float, float>("v_minmax_f32 v_minmax_num_f32",
                     [](float a, float b, float c) { return fmax_hw(fmin_hw(a, b), c); });
  reg1<float, float>("v_floor_f32", [](float a) { return std::floor(a); });
  reg1<float, float>("v_ceil_f32", [](float a) { return std::ceil(a); });
  reg1<float, float>("v_trunc_f32", [](float a) { return std::trunc(a); });
  reg1<float, float>("v_rndne_f32", [](float a) { return std::nearbyint(a); });
  reg1<float, float>("v_fract_f32", [](float a) { return fract(a); });
  reg3<float, float>("v_cubeid_f32", [](float a, float b, float c) {
    const float x = std::fabs(a), y = std::fabs(b), z = std::fabs(c);
    return z >= x && z >= y ? (c < 0 ? 5.f : 4.f) : y >= x ? (b < 0 ? 3.f : 2.f) : (a < 0 ? 1.f : 0.f);
  });

  // f64
  reg2<double, double>("v_add_f64", [](double a, double b) { return a + b; });
  reg2<double, double>("v_mul_f64", [](double a, double b) { return a * b; });
  reg2<double, double>("v_min_f64 v_min_num_f64", [](double a, double b) { return fmin_hw(a, b); });
  reg2<double, double>("v_max_f64 v_max_num_f64", [](double a, double b) { return fmax_hw(a, b); });
  reg2<double, double>("v_minimum_f64", [](double a, double b) { return minimum(a, b); });
  reg2<double, double>("v_maximum_f64", [](double a, double b) { return maximum(a, b); });
  reg3<double, double>("v_fma_f64", [](double a, double b, double c) { return std::fma(a, b, c); });
  reg_acc<double, double>("v_fmac_f64", [](double a, double b, double c) { return std::fma(a, b, c); });
  reg1<double, double>("v_floor_f64", [](double a) { return std::floor(a); });
  reg1<double, double>("v_ceil_f64", [](double a) { return std::ceil(a); });
  reg1<double, double>("v_trunc_f64", [](double a) { return std::trunc(a); });
  reg1<double, double>("v_rndne_f64", [](double a) { return std::nearbyint(a); });
  reg1<double, double>("v_fract_f64", [](double a) { return fract(a); });
  // f16: computed in f32 (one rounding suffices) or f64 for the fused ones
  reg2<half, half>("v_add_f16", [](float a, float b) { return a + b; });
  reg2<half, half>("v_sub_f16", [](float a, float b) { return a - b; });
  reg2<half, half>("v_subrev_f16", [](float a, float b) { return b - a; });
  reg2<half, half>("v_mul_f16", [](float a, float b) { return a * b; });
  reg2<half, half>("v_min_f16 v_min_num_f16", [](float a, float b) { return fmin_hw(a, b); });
  reg2<half, half>("v_max_f16 v_max_num_f16", [](float a, float b) { return fmax_hw(a, b); });
  reg2<half, half>("v_minimum_f16", [](float a, float b) { return minimum(a, b); });
  reg2<half, half>("v_maximum_f16", [](float a, float b) { return maximum(a, b); });
  reg3<half, half>("v_fma_f16 v_fmaak_f16 v_fmamk_f16",
                   [](float a, float b, float c) { return static_cast<double>(a) * b + c; });
  reg_acc<half, half>("v_fmac_f16", [](float a, float b, float c) { return static_cast<double>(a) * b + c; });
  reg3<half, half>("v_mad_f16 v_madak_f16 v_madmk_f16",
                   [](float a, float b, float c) { return f16_to_f32(f32_to_f16(a * b)) + c; });
  reg_acc<half, half>("v_mac_f16", [](float a, float b, float c) { return f16_to_f32(f32_to_f16(a * b)) + c; });
  reg3<half, half>("v_min3_f16 v_min3_num_f16", [](float a, float b, float c) { return fmin_hw(fmin_hw(a, b), c); });
  reg3<half, half>("v_max3_f16 v_max3_num_f16", [](float a, float b, float c) { return fmax_hw(fmax_hw(a, b), c); });
  reg3<half, half>("v_med3_f16 v_med3_num_f16", [](float a, float b, float c) { return med3(a, b, c); });
  reg3<half, half>("v_maxmin_f16 v_maxmin_num_f16",
                   [](float a, float b, float c) { return fmin_hw(fmax_hw(a, b), c); });
  reg3<half, half>("v_minmax_f16 v_minmax_num_f16",
                   [](float a, float b, float c) { return fmax_hw(fmin_hw(a, b), c); });
  reg1<half, half>("v_floor_f16", [](float a) { return std::floor(a); });
  reg1<half, half>("v_ceil_f16", [](float a) { return std::ceil(a); });
  reg1<half, half>("v_trunc_f16", [](float a) { return std::trunc(a); });
  reg1<half, half>("v_rndne_f16", [](float a) { return std::nearbyint(a); });
  reg1<half, half>("v_fract_f16", [](float a) {
    const float r = a - std::floor(a);
    return r < 0.99951172f ? r : r != r ? r : 0.99951172f;
  });
}
}  // namespace emu
