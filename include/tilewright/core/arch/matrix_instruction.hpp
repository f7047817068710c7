// SPDX-License-Identifier: MIT
// Matrix instructions: shapes, elements and lane maps, with their sources.
#pragma once

#include <tilewright/core/arch/lane_map.hpp>

namespace tilewright::arch {

/// A matrix instruction, or a fixed group of them that works as one: "_x2" and "_x4" issue the instruction as often, so
/// that a lane holds 16 contiguous bytes of each operand. Elements have 16 bits, or 8 ("_b8") or 32 ("_b32");
/// the maps depend on nothing else.
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
  mfma_16x16x4_b32_x4,
  mfma_32x32x2_b32_x4,
  mfma_16x16x16_b8_x4,
  mfma_32x32x8_b8_x4,
  mfma_16x16x32_b8_x2,
  mfma_32x32x16_b8_x2,
  mfma_16x16x64_b8,
  mfma_32x32x32_b8,
  mfma_16x16x128_b8,
  mfma_32x32x64_b8,
  wmma_16x16x16_b8_gfx11,
  wmma_16x16x16_b8_x2_gfx12,
  wmma_16x16x32_gfx1250,
  wmma_16x16x64_b8_gfx1250,
  wmma_16x16x128_b8_gfx1250,
  wgmma_k16,
  wgmma_k32_b8,
};

/// Whether four waves together multiply operands in LDS (Hopper's wgmma). describe() says what one wave has of
/// 16 columns of the result.
TILEWRIGHT_HD constexpr bool is_wgmma(matrix_op op) {
  return op == matrix_op::wgmma_k16 || op == matrix_op::wgmma_k32_b8;
}

/// What the operands of a matrix instruction consist of. Sums are int for i8, else float.
enum class matrix_element : signed char { f16, bf16, f32, fp8_ocp, bf8_ocp, fp8_fnuz, bf8_fnuz, i8 };

/// Whether elements are 8-bit floating-point numbers, of any format.
TILEWRIGHT_HD constexpr bool is_fp8(matrix_element e) {
  return e >= matrix_element::fp8_ocp && e <= matrix_element::bf8_fnuz;
}
/// Bytes of an element: 1, 2 or 4.
TILEWRIGHT_HD constexpr index_t bytes_of(matrix_element e) {
  if (e == matrix_element::f32) return 4;
  return e == matrix_element::f16 || e == matrix_element::bf16 ? 2 : 1;
}

/// D(m, n) = sum over k of A(m, k) B(n, k) + C(m, n) by one wave. A's map has rows m and columns k,
/// B's rows n and columns k, C's rows m and columns n.
struct matrix_instruction {
  matrix_op op;  ///< which one
  /// Rows, columns and depth.
  index_t m, n, k;
  /// Which elements each lane holds.
  lane_map a, b, c;

  /// Lanes that execute it together.
  TILEWRIGHT_HD constexpr index_t wave_size() const { return c.num_lanes(); }
  /// Whether several lanes hold the same element of A (gfx11).
  TILEWRIGHT_HD constexpr bool repeats_operands() const { return a.num_registers() * wave_size() > m * k; }
};

namespace detail {

enum class matrix_family : signed char { mfma, wmma_gfx11, wmma_gfx12, wmma_gfx1250, mma };

struct matrix_facts {
  matrix_family family;
  index_t rows, elements_per_lane;  // of A and of B
  index_t element_bytes, issues;
};

TILEWRIGHT_HD constexpr matrix_facts facts_of(matrix_op op) {
  using enum matrix_family;
  using enum matrix_op;
  switch (op) {
    case mfma_16x16x16: return {mfma, 16, 4, 2, 1};
    case mfma_16x16x16_x2: return {mfma, 16, 8, 2, 2};
    case mfma_32x32x8: return {mfma, 32, 4, 2, 1};
    case mfma_32x32x8_x2: return {mfma, 32, 8, 2, 2};
    case mfma_16x16x32: return {mfma, 16, 8, 2, 1};
    case mfma_32x32x16: return {mfma, 32, 8, 2, 1};
    case wmma_16x16x16_gfx11: return {wmma_gfx11, 16, 16, 2, 1};
    case wmma_16x16x16_gfx12: return {wmma_gfx12, 16, 8, 2, 1};
    case mfma_16x16x4_b32_x4: return {mfma, 16, 4, 4, 4};
    case mfma_32x32x2_b32_x4: return {mfma, 32, 4, 4, 4};
    case mfma_16x16x16_b8_x4: return {mfma, 16, 16, 1, 4};
    case mfma_32x32x8_b8_x4: return {mfma, 32, 16, 1, 4};
    case mfma_16x16x32_b8_x2: return {mfma, 16, 16, 1, 2};
    case mfma_32x32x16_b8_x2: return {mfma, 32, 16, 1, 2};
    case mfma_16x16x64_b8: return {mfma, 16, 16, 1, 1};
    case mfma_32x32x32_b8: return {mfma, 32, 16, 1, 1};
    case mfma_16x16x128_b8: return {mfma, 16, 32, 1, 1};
    case mfma_32x32x64_b8: return {mfma, 32, 32, 1, 1};
    case wmma_16x16x16_b8_gfx11: return {wmma_gfx11, 16, 16, 1, 1};
    case wmma_16x16x16_b8_x2_gfx12: return {wmma_gfx12, 16, 16, 1, 2};
    case wmma_16x16x32_gfx1250: return {wmma_gfx1250, 16, 16, 2, 1};
    case wmma_16x16x64_b8_gfx1250: return {wmma_gfx1250, 16, 32, 1, 1};
    case wmma_16x16x128_b8_gfx1250: return {wmma_gfx1250, 16, 64, 1, 1};
    case wgmma_k16: return {mma, 16, 8, 2, 1};
    case wgmma_k32_b8: return {mma, 16, 16, 1, 1};
    case mma_m16n8k16_x2: break;
  }
  return {mma, 16, 8, 2, 2};
}

/// An operand whose lanes hold one row each, block by block, and blocks of lanes consecutive groups of k.
TILEWRIGHT_HD constexpr lane_map rows_by_lane(index_t rows, index_t elements_per_lane, index_t lane_bits) {
  lane_map ab;
  index_t row_bits = 0, element_bits = 0;
  while (1 << row_bits < rows) ab.lane.push_back(row(row_bits++));
  while (1 << element_bits < elements_per_lane) ab.reg.push_back(col(element_bits++));
  for (index_t i = row_bits; i < lane_bits; ++i) ab.lane.push_back(col(element_bits + i - row_bits));
  return ab;
}

}  // namespace detail

/// What an instruction computes and which lane holds what.
TILEWRIGHT_HD constexpr matrix_instruction describe(matrix_op op) {
  using enum detail::matrix_family;
  const detail::matrix_facts f = detail::facts_of(op);
  const index_t rows = f.rows;
  if (f.family == mfma) {
    // AMD Instinct MI200 / MI300 / CDNA4 ISA manuals, "Matrix Arithmetic Instructions": the accumulator's registers run
    // down the rows in groups of four. The two longest 8-bit instructions rename k, in A and B alike: AMD's lanes hold
    // two chunks of 16, one of each half of k. Scales of blocks along k would belong to AMD's order.
    const lane_map ab = detail::rows_by_lane(rows, f.elements_per_lane, 6);
    const lane_map c = rows == 16 ? lane_map{bits(col(0), col(1), col(2), col(3), row(2), row(3)), bits(row(0), row(1))}
                                  : lane_map{bits(col(0), col(1), col(2), col(3), col(4), row(2)),
                                             bits(row(0), row(1), row(3), row(4))};
    return {op, rows, rows, f.elements_per_lane * (64 / rows), ab, ab, c};
  }
  if (f.family == wmma_gfx11) {
    // RDNA3 ISA manual, "Wave Matrix Multiply Accumulate": lanes 16-31 hold a copy of the operands of lanes 0-15; each
    // lane holds a whole row; accumulator register r holds rows 2r (lanes 0-15) and 2r + 1 (lanes 16-31).
    const lane_map ab{bits(row(0), row(1), row(2), row(3), none()), bits(col(0), col(1), col(2), col(3))};
    const lane_map c{bits(col(0), col(1), col(2), col(3), row(0)), bits(row(1), row(2), row(3))};
    return {op, 16, 16, 16, ab, ab, c};
  }
  if (f.family == wmma_gfx12) {
    // RDNA4 ISA manual: no copies; lanes 16-31 hold the upper half of k and the lower half of the accumulator's rows.
    const lane_map ab = detail::rows_by_lane(rows, f.elements_per_lane, 5);
    const lane_map c{bits(col(0), col(1), col(2), col(3), row(3)), bits(row(0), row(1), row(2))};
    return {op, 16, 16, 2 * f.elements_per_lane, ab, ab, c};
  }
  if (f.family == wmma_gfx1250) {
    // AMD's simulator rocjitsu (shared/mma_exec.h: wmma_input_loc): a lane's chunks of 16 bytes alternate along k with
    // those of the lane 16 further. The accumulator is that of gfx12.
    lane_map ab{bits(row(0), row(1), row(2), row(3)), {}};
    const index_t in_chunk = f.element_bytes == 2 ? 3 : 4;
    for (index_t bit = 0; 1 << bit < f.elements_per_lane; ++bit) ab.reg.push_back(col(bit + (bit >= in_chunk)));
    ab.lane.push_back(col(in_chunk));
    const lane_map c{bits(col(0), col(1), col(2), col(3), row(3)), bits(row(0), row(1), row(2))};
    return {op, 16, 16, 2 * f.elements_per_lane, ab, ab, c};
  }
  // PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type", for n and n + 8; "Register Fragments for
  // wgmma.mma_async.m64nNk16" are the same, those of "k32" have two more columns.
  const lane_map a{bits(col(1), col(2), row(0), row(1), row(2)), bits(col(0), row(3), col(3))};
  const lane_map b{bits(col(1), col(2), row(0), row(1), row(2)), bits(col(0), col(3), row(3))};
  if (f.element_bytes == 2) return {op, 16, 16, 16, a, b, a};
  const lane_map a8{bits(col(2), col(3), row(0), row(1), row(2)), bits(col(0), col(1), row(3), col(4))};
  const lane_map b8{bits(col(2), col(3), row(0), row(1), row(2)), bits(col(0), col(1), col(4), row(3))};
  return {op, 16, 16, 32, a8, b8, a};
}

/// Bytes of an operand's element.
TILEWRIGHT_HD constexpr index_t element_bytes(matrix_op op) { return detail::facts_of(op).element_bytes; }

/// Instructions in the group.
TILEWRIGHT_HD constexpr index_t num_issues(matrix_op op) { return detail::facts_of(op).issues; }

}  // namespace tilewright::arch
