// SPDX-License-Identifier: MIT
// Scalar floats (gfx11.5, gfx12).
#include "salu.hpp"

namespace emu {
namespace {
// gfx9.4 / gfx11.5+ scalar float
template <class F>
void sfloat2(wave& w, const inst& i) {
  w.ws32(i.dst[0], bits(F{}(as_f32(w.rs32(i.src[0])), as_f32(w.rs32(i.src[1])))));
}
template <class F>
void sfcmp(wave& w, const inst& i) {
  w.scc() = F{}(as_f32(w.rs32(i.src[0])), as_f32(w.rs32(i.src[1])));
}

template <class F>
void rf2(const char* n, F) {
  for_names(n, {&sfloat2<F>});
}
template <class F>
void rfc(const char* n, F) {
  for_names(n, {&sfcmp<F>, 0});
}
}  // namespace

void register_salu_float() {
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
