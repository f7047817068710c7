// SPDX-License-Identifier: MIT
// Matrix instructions for 16-bit floating-point operands: shapes and lane maps, with their sources.
#pragma once

#include <tilewright/arch/lane_map.hpp>

namespace tilewright::arch {

/// A matrix instruction, or a fixed group of them that works as one: "_x2" issues the instruction twice, so that a lane holds
/// 16 contiguous bytes of each operand. The maps are the same for f16 and bf16.
enum class matrix_op : signed char {
  mfma_16x16x16,
  mfma_16x16x16_x2,
  mfma_32x32x8,
  mfma_32x32x8_x2,
  mfma_16x16x32,
  mfma_32x32x16,
  wmma_16x16x16_gfx11,
  wmma_16x16x16_gfx12,
  mma_m16n8k16_x2,
};

/// D(m, n) = sum over k of A(m, k) B(n, k) + C(m, n) by one wave. A's map has rows m and columns k, B's rows n and columns k,
/// C's rows m and columns n.
struct matrix_instruction {
  matrix_op op;
  index_t m, n, k;
  lane_map a, b, c;

  TILEWRIGHT_HD constexpr index_t wave_size() const { return c.num_lanes(); }
};

namespace detail {

// AMD Instinct MI200 / MI300 / CDNA4 ISA manuals, "Matrix Arithmetic Instructions": lane i of a block of 16 or 32 lanes holds
// row i; the blocks hold consecutive groups of k. The accumulator's registers run down the rows in groups of four.
TILEWRIGHT_HD constexpr matrix_instruction mfma_16(matrix_op op, index_t k) {
  lane_map ab;
  if (k == 16) {
    ab = {bits(row(0), row(1), row(2), row(3), col(2), col(3)), bits(col(0), col(1))};
  } else {
    ab = {bits(row(0), row(1), row(2), row(3), col(3), col(4)), bits(col(0), col(1), col(2))};
  }
  const lane_map c{bits(col(0), col(1), col(2), col(3), row(2), row(3)), bits(row(0), row(1))};
  return {op, 16, 16, k, ab, ab, c};
}

TILEWRIGHT_HD constexpr matrix_instruction mfma_32(matrix_op op, index_t k) {
  lane_map ab;
  if (k == 8) {
    ab = {bits(row(0), row(1), row(2), row(3), row(4), col(2)), bits(col(0), col(1))};
  } else {
    ab = {bits(row(0), row(1), row(2), row(3), row(4), col(3)), bits(col(0), col(1), col(2))};
  }
  const lane_map c{bits(col(0), col(1), col(2), col(3), col(4), row(2)), bits(row(0), row(1), row(3), row(4))};
  return {op, 32, 32, k, ab, ab, c};
}

// RDNA3 ISA manual, "Wave Matrix Multiply Accumulate": lanes 16-31 hold a copy of the operands of lanes 0-15; each lane holds a
// whole row; accumulator register r holds rows 2r (lanes 0-15) and 2r + 1 (lanes 16-31).
TILEWRIGHT_HD constexpr matrix_instruction wmma_gfx11() {
  const lane_map ab{bits(row(0), row(1), row(2), row(3), none()), bits(col(0), col(1), col(2), col(3))};
  const lane_map c{bits(col(0), col(1), col(2), col(3), row(0)), bits(row(1), row(2), row(3))};
  return {matrix_op::wmma_16x16x16_gfx11, 16, 16, 16, ab, ab, c};
}

// RDNA4 ISA manual: no copies; lanes 16-31 hold the upper half of k and the lower half of the accumulator's rows.
TILEWRIGHT_HD constexpr matrix_instruction wmma_gfx12() {
  const lane_map ab{bits(row(0), row(1), row(2), row(3), col(3)), bits(col(0), col(1), col(2))};
  const lane_map c{bits(col(0), col(1), col(2), col(3), row(3)), bits(row(0), row(1), row(2))};
  return {matrix_op::wmma_16x16x16_gfx12, 16, 16, 16, ab, ab, c};
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type", for n and n + 8.
TILEWRIGHT_HD constexpr matrix_instruction mma_m16n8k16_x2() {
  const lane_map a{bits(col(1), col(2), row(0), row(1), row(2)), bits(col(0), row(3), col(3))};
  const lane_map b{bits(col(1), col(2), row(0), row(1), row(2)), bits(col(0), col(3), row(3))};
  const lane_map c{bits(col(1), col(2), row(0), row(1), row(2)), bits(col(0), row(3), col(3))};
  return {matrix_op::mma_m16n8k16_x2, 16, 16, 16, a, b, c};
}

}  // namespace detail

/// What an instruction computes and which lane holds what.
TILEWRIGHT_HD constexpr matrix_instruction describe(matrix_op op) {
  switch (op) {
    case matrix_op::mfma_16x16x16: return detail::mfma_16(op, 16);
    case matrix_op::mfma_16x16x16_x2: return detail::mfma_16(op, 32);
    case matrix_op::mfma_32x32x8: return detail::mfma_32(op, 8);
    case matrix_op::mfma_32x32x8_x2: return detail::mfma_32(op, 16);
    case matrix_op::mfma_16x16x32: return detail::mfma_16(op, 32);
    case matrix_op::mfma_32x32x16: return detail::mfma_32(op, 16);
    case matrix_op::wmma_16x16x16_gfx11: return detail::wmma_gfx11();
    case matrix_op::wmma_16x16x16_gfx12: return detail::wmma_gfx12();
    case matrix_op::mma_m16n8k16_x2: break;
  }
  return detail::mma_m16n8k16_x2();
}

}  // namespace tilewright::arch
