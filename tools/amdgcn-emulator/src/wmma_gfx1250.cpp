// SPDX-License-Identifier: MIT
// WMMA of gfx1250: 16 x 16 results, k from 4 to 128, with or without scales of blocks along k. Sums run in ascending k
// in f32; hardware may round differently in the last bits.
#include "matrix.hpp"

namespace emu::matrix {
namespace {
constexpr u32 edge = 16, most_k = 128;
using operand_values = float[edge][most_k];  // row (of A) or column (of B), k

// A lane's chunks of 16 bytes (6 bits: of 32 elements) alternate along k with those of the lane 16 further.
u32 elements_of_chunk(type t, u32 k) {
  if (t == t_f32) return k / 2;
  return type_bits[t] == 16 ? 8 : type_bits[t] == 8 ? 16 : 32;
}
float scale_of(const wave& w, const inst& i, u8 bits, u32 format) {
  if (format == 0) return bits == 255 ? std::nanf("") : std::ldexp(1.0f, bits - 127);
  if (format == 2) return f8().fp8[0][bits];
  w.refuse(i, "WMMA with scales of e5m3 is not implemented");
}
// Operand `which` (0: A, 1: B) of all lanes.
void read_operand(wave& w, const inst& i, const shape& s, u32 which, operand_values& to) {
  const operand& o = i.src[which];
  type t = which ? s.b : s.a;
  if (t == t_i8 && !(i.neg_lo >> which & 1)) t = t_u8;
  const u32 n = s.k / 2, chunk = elements_of_chunk(t, s.k);
  const bool negates = s.out != t_i32;
  for (u32 l = 0; l < 32; ++l) {
    u32 d[most_k / 2] = {};
    float x[most_k / 2];
    for (u32 k = 0; k < n * type_bits[t] / 32; ++k) d[k] = source(w, o, k, l);
    expand(t, false, false, d, n, x);
    for (u32 j = 0; j < n; ++j) {
      const u32 k = j / chunk * 2 * chunk + l / 16 * chunk + j % chunk;
      const bool negated = negates && ((type_bits[t] == 16 && j & 1 ? i.neg_hi : i.neg_lo) >> which & 1);
      to[l % 16][k] = negated ? -x[j] : x[j];
    }
  }
}
// Scales of blocks of 32 or 16 elements along k: the bytes of one or two registers of lanes 0-15, or of 16-31.
void apply_scales(wave& w, const inst& i, const shape& s, u32 which, operand_values& values) {
  const operand& o = i.src[3 + which];
  const u32 select = static_cast<u32>(which ? i.offset1 : i.offset0),
            block = i.name.find("scale16") != i.name.npos ? 16 : 32;
  for (u32 row = 0; row < edge; ++row) {
    const u32 lane = row + 16 * (select & 1);
    for (u32 k = 0; k < s.k; ++k) {
      const u32 byte = k / block;
      values[row][k] *= scale_of(w, i, static_cast<u8>(source(w, o, byte / 4, lane) >> 8 * (byte % 4)), select >> 1);
    }
  }
}
// Row and column of a lane's accumulator register.
std::pair<u32, u32> position(u32 lane, u32 r) { return {8 * (lane / 16) + r, lane % 16}; }
bool is_narrow(const shape& s) { return s.out != t_f32 && s.out != t_i32; }

u32 read_accumulator(wave& w, const inst& i, const shape& s, u32 lane, u32 r) {
  const operand& o = i.src[2];
  if (!o.is_vgpr()) {
    const kind as = s.out == t_f16 ? kind::f16 : s.out == t_bf16 ? kind::bf16 : s.out == t_i32 ? kind::i32 : kind::f32;
    return static_cast<u32>(const_bits(o, as));
  }
  return is_narrow(s) ? w.v(o.reg + r / 2)[lane] >> 16 * (r & 1) & 0xffff : w.v(o.reg + r)[lane];
}
float as_float(const inst& i, const shape& s, u32 bits) {
  float v = s.out == t_f32   ? as_f32(bits)
            : s.out == t_f16 ? f16_to_f32(static_cast<u16>(bits))
                             : bf16_to_f32(static_cast<u16>(bits));
  if (i.neg_hi >> 2 & 1) v = std::fabs(v);
  return i.neg_lo >> 2 & 1 ? -v : v;
}
void write_result(wave& w, const inst& i, const shape& s, u32 lane, u32 r, u32 value) {
  if (!is_narrow(s)) {
    w.v(i.dst[0].reg + r)[lane] = value;
    return;
  }
  u32& d = w.v(i.dst[0].reg + r / 2)[lane];
  d = (d & ~(0xffffu << 16 * (r & 1))) | value << 16 * (r & 1);
}
u32 product(const inst& i, const shape& s, const float* a, const float* b, u32 accumulator) {
  if (s.out == t_i32) {
    i64 sum = static_cast<i32>(accumulator);
    for (u32 k = 0; k < s.k; ++k) sum += static_cast<i32>(a[k]) * static_cast<i32>(b[k]);
    return static_cast<u32>(i.clamp ? std::clamp<i64>(sum, INT32_MIN, INT32_MAX) : sum);
  }
  float sum = as_float(i, s, accumulator);
  for (u32 k = 0; k < s.k; ++k) sum += a[k] * b[k];
  return s.out == t_f32 ? bits(sum) : s.out == t_f16 ? f32_to_f16(sum) : f32_to_bf16(sum);
}
}  // namespace

void wmma_gfx1250(wave& w, const inst& i) {
  const shape s = unpack(i);
  if (s.m != edge || s.k > most_k) w.refuse(i, "this shape of WMMA is not implemented");
  operand_values a, b;
  read_operand(w, i, s, 0, a), read_operand(w, i, s, 1, b);
  if (s.scaled) apply_scales(w, i, s, 0, a), apply_scales(w, i, s, 1, b);
  u32 results[32][8];  // the destination may overlap the sources
  for (u32 l = 0; l < 32; ++l)
    for (u32 r = 0; r < 8; ++r) {
      const auto [row, column] = position(l, r);
      results[l][r] = product(i, s, a[row], b[column], read_accumulator(w, i, s, l, r));
    }
  for (u32 l = 0; l < 32; ++l)
    for (u32 r = 0; r < 8; ++r) write_result(w, i, s, l, r, results[l][r]);
}
}  // namespace emu::matrix
