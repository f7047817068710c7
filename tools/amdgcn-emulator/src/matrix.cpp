// SPDX-License-Identifier: MIT
// Elements of matrix operands, and how matrix instructions are bound.
#include "matrix.hpp"

namespace emu {
namespace matrix {
shape unpack(const inst& i) {
  shape s;
  s.a = static_cast<type>(i.x & 255), s.b = static_cast<type>(i.x >> 8 & 255),
  s.out = static_cast<type>(i.x >> 16 & 255);
  s.m = static_cast<u32>(i.y & 255), s.k = static_cast<u32>(i.y >> 8 & 0xffff), s.blocks = static_cast<u32>(i.z & 255);
  s.scaled = i.z >> 8 & 1, s.f8f6f4 = i.z >> 9 & 1;
  return s;
}
u32 source(wave& w, const operand& o, u32 k, u32 lane) {
  if (o.kind == operand::vgpr) return w.v(o.reg + k)[lane];
  return o.kind == operand::sgpr ? w.s[o.reg + (o.count > 1 ? k : 0)] : static_cast<u32>(const_bits(o, kind::f32));
}
namespace {
const float* small_table(type t) {
  static float fp6[64], bf6[64], fp4[16];
  static const bool once = [] {
    for (u32 v = 0; v < 64; ++v) fp6[v] = small_to_f32(v, fp6_e2m3), bf6[v] = small_to_f32(v, bf6_e3m2);
    for (u32 v = 0; v < 16; ++v) fp4[v] = small_to_f32(v, fp4_e2m1);
    return true;
  }();
  (void)once;
  return t == t_fp6 ? fp6 : t == t_bf6 ? bf6 : fp4;
}
}  // namespace
void expand(type t, bool fnuz, bool flush_denorm, const u32* d, u32 n, float* out) {
  switch (t) {
    case t_f16:
      for (u32 j = 0; j < n; ++j) {
        u16 h = static_cast<u16>(d[j / 2] >> 16 * (j & 1));
        if (flush_denorm && !(h & 0x7c00)) h &= 0x8000;
        out[j] = f16_to_f32(h);
      }
      return;
    case t_bf16:
      for (u32 j = 0; j < n; ++j) {
        u16 h = static_cast<u16>(d[j / 2] >> 16 * (j & 1));
        if (flush_denorm && !(h & 0x7f80)) h &= 0x8000;
        out[j] = bf16_to_f32(h);
      }
      return;
    case t_fp8:
    case t_bf8: {
      const float* tab = t == t_fp8 ? f8().fp8[fnuz] : f8().bf8[fnuz];
      for (u32 j = 0; j < n; ++j) out[j] = tab[d[j / 4] >> 8 * (j & 3) & 255];
      return;
    }
    case t_xf32:
      for (u32 j = 0; j < n; ++j) {
        const u32 u = d[j];
        out[j] = as_f32((u & 0x7f800000) == 0x7f800000 ? u : (u + 0xfff + (u >> 13 & 1)) & ~0x1fffu);
      }
      return;
    case t_fp6:
    case t_bf6:
    case t_fp4: {
      const float* tab = small_table(t);
      const u32 b = type_bits[t];
      for (u32 j = 0; j < n; ++j) {
        const u32 p = j * b, w = p / 32;
        const u64 x = d[w] | ((p + b - 1) / 32 != w ? static_cast<u64>(d[w + 1]) << 32 : 0);
        out[j] = tab[x >> p % 32 & ((1u << b) - 1)];
      }
      return;
    }
    case t_i8:
      for (u32 j = 0; j < n; ++j) out[j] = static_cast<float>(static_cast<i8>(d[j / 4] >> 8 * (j & 3)));
      return;
    case t_u8:
      for (u32 j = 0; j < n; ++j) out[j] = static_cast<float>(d[j / 4] >> 8 * (j & 3) & 255);
      return;
    case t_i4:
      for (u32 j = 0; j < n; ++j) out[j] = static_cast<float>(static_cast<i32>(d[j / 8] << (28 - 4 * (j & 7))) >> 28);
      return;
    case t_u4:
      for (u32 j = 0; j < n; ++j) out[j] = static_cast<float>(d[j / 8] >> 4 * (j & 7) & 15);
      return;
    default:
      for (u32 j = 0; j < n; ++j) out[j] = as_f32(d[j]);
      return;
  }
}
namespace {
bool type_of(const std::string& s, type& t) {
  static const struct {
    const char* n;
    type t;
  } names[] = {{"f32", t_f32}, {"f16", t_f16}, {"bf16", t_bf16}, {"bf16_1k", t_bf16}, {"i8", t_i8},     {"iu8", t_i8},
               {"iu4", t_i4},  {"fp8", t_fp8}, {"bf8", t_bf8},   {"f64", t_f64},      {"xf32", t_xf32}, {"i32", t_i32}};
  for (const auto& e : names)
    if (s == e.n) return t = e.t, true;
  return false;
}
}  // namespace
}  // namespace matrix

bool bind_matrix(inst& i, const code_object& co) {
  using namespace matrix;
  std::string n = i.name;
  const bool is_wmma = n.rfind("v_wmma_", 0) == 0;
  n = n.substr(7);
  shape s{};
  for (const std::string_view prefix : {"scale_", "scale16_"})
    if (n.rfind(prefix, 0) == 0) s.scaled = true, n = n.substr(prefix.size());
  const auto us = n.find('_');
  if (us == n.npos || !type_of(n.substr(0, us), s.out)) return false;
  n = n.substr(us + 1);
  u32 dims[3] = {};
  std::size_t p = 0;
  for (int k = 0; k < 3; ++k) {
    while (p < n.size() && n[p] >= '0' && n[p] <= '9') dims[k] = dims[k] * 10 + static_cast<u32>(n[p++] - '0');
    if (k < 2 && (p >= n.size() || n[p++] != 'x')) return false;
  }
  s.m = dims[0], s.k = dims[2];
  n = n.substr(p);
  if (!n.empty() && n[0] == '_') n = n.substr(1);
  if (auto b = n.find("b_"); b != n.npos && b > 0 && b < 3 && n[0] >= '0' && n[0] <= '9') n = n.substr(b + 2);
  if (n == "f8f6f4") {
    static constexpr type formats[] = {t_fp8, t_bf8, t_fp6, t_bf6, t_fp4};
    if (i.cbsz > 4 || i.blgp > 4) return false;
    s.a = formats[i.cbsz], s.b = formats[i.blgp], s.f8f6f4 = true;
  } else if (type_of(n, s.a)) {
    s.b = s.a;
  } else {
    const auto m = n.find('_');
    if (m == n.npos || !type_of(n.substr(0, m), s.a) || !type_of(n.substr(m + 1), s.b)) return false;
  }
  if (i.ops.size() < (s.scaled ? 6u : 4u)) throw std::runtime_error("too few operands");
  i.ndst = 1, i.dst[0] = i.ops[0];
  for (std::size_t k = 1; k < i.ops.size() && k < 7; ++k) i.src[i.nsrc++] = i.ops[k];
  s.blocks = is_wmma ? 1 : i.dst[0].count / (s.out == t_f64 ? 2u : 1u) * 64 / (s.m * s.m);
  if (!s.blocks) throw std::runtime_error("unexpected size of the destination");
  i.x = s.a | s.b << 8 | s.out << 16, i.y = static_cast<i32>(s.m | s.k << 8),
  i.z = static_cast<i32>(s.blocks | static_cast<u32>(s.scaled) << 8 | static_cast<u32>(s.f8f6f4) << 9);
  i.fn = !is_wmma ? mfma() : co.target == "gfx1250" ? &wmma_gfx1250 : wmma();
  return true;
}
}  // namespace emu
