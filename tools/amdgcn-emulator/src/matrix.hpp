// SPDX-License-Identifier: MIT
// Shared by the matrix instructions: element types, and how an instruction states its shape.
#pragma once

#include "valu.hpp"

namespace emu::matrix {
enum type : u8 {
  t_f32,
  t_f16,
  t_bf16,
  t_i8,
  t_fp8,
  t_bf8,
  t_f64,
  t_xf32,
  t_fp6,
  t_bf6,
  t_fp4,
  t_u8,
  t_i4,
  t_u4,
  t_i32
};
constexpr u8 type_bits[] = {32, 16, 16, 8, 8, 8, 64, 32, 6, 6, 4, 8, 4, 4, 32};

struct shape {
  type a, b, out;
  u32 m, k, blocks;
  bool scaled, f8f6f4;
};
shape unpack(const inst& i);
u32 source(wave& w, const operand& o, u32 k, u32 lane);
void expand(type t, bool fnuz, bool flush_denorm, const u32* d, u32 n, float* out);  // one lane's packed operand
void mfma(wave& w, const inst& i);
void wmma(wave& w, const inst& i);
void wmma_gfx1250(wave& w, const inst& i);
}  // namespace emu::matrix
