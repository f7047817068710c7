// SPDX-License-Identifier: MIT
// The lane maps, compared element by element with the formulas of the instruction set manuals.
#include "is_balanced.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <utility>

namespace tilewright::arch {
namespace {

using formula = std::function<matrix_position(index_t lane, index_t reg)>;

void expect_map(const lane_map& map, index_t lanes, index_t registers, const formula& expected, const char* what) {
  ASSERT_EQ(map.num_lanes(), lanes) << what;
  ASSERT_EQ(map.num_registers(), registers) << what;
  for (index_t lane = 0; lane < lanes; ++lane) {
    for (index_t reg = 0; reg < registers; ++reg) {
      EXPECT_EQ(map.at(lane, reg), expected(lane, reg)) << what << ", lane " << lane << ", register " << reg;
    }
  }
}

/// Operand A or B of an MFMA with `rows` rows: lane i % rows, and `per_lane` consecutive k for each block of lanes.
formula mfma_operand(index_t rows, index_t per_lane) {
  return [=](index_t lane, index_t j) { return matrix_position{lane % rows, per_lane * (lane / rows) + j}; };
}

matrix_position mfma_16_c(index_t lane, index_t r) { return {4 * (lane / 16) + r, lane % 16}; }
matrix_position mfma_32_c(index_t lane, index_t r) { return {8 * (r / 4) + 4 * (lane / 32) + r % 4, lane % 32}; }

void expect_mfma(matrix_op op, index_t rows, index_t k) {
  const matrix_instruction d = describe(op);
  EXPECT_EQ(d.op, op);
  EXPECT_EQ(d.m, rows);
  EXPECT_EQ(d.n, rows);
  EXPECT_EQ(d.k, k);
  const index_t per_lane = rows * k / 64;
  expect_map(d.a, 64, per_lane, mfma_operand(rows, per_lane), "A");
  expect_map(d.b, 64, per_lane, mfma_operand(rows, per_lane), "B");
  expect_map(d.c, 64, rows * rows / 64, rows == 16 ? mfma_16_c : mfma_32_c, "C");
}

TEST(MatrixInstruction, Mfma16x16x16) { expect_mfma(matrix_op::mfma_16x16x16, 16, 16); }
TEST(MatrixInstruction, Mfma32x32x8) { expect_mfma(matrix_op::mfma_32x32x8, 32, 8); }
TEST(MatrixInstruction, Mfma16x16x32) { expect_mfma(matrix_op::mfma_16x16x32, 16, 32); }
TEST(MatrixInstruction, Mfma32x32x16) { expect_mfma(matrix_op::mfma_32x32x16, 32, 16); }
// The pair of narrow instructions: k is renamed so that a lane's 8 elements are contiguous;
// A and B agree, so sums do too.
TEST(MatrixInstruction, Mfma16x16x16Pair) { expect_mfma(matrix_op::mfma_16x16x16_x2, 16, 32); }
TEST(MatrixInstruction, Mfma32x32x8Pair) { expect_mfma(matrix_op::mfma_32x32x8_x2, 32, 16); }

// Elements of other sizes: a lane holds 16 bytes of each operand, or 32; groups rename k as the pairs do.
TEST(MatrixInstruction, MfmaOfOtherElements) {
  expect_mfma(matrix_op::mfma_16x16x4_b32_x4, 16, 16);
  expect_mfma(matrix_op::mfma_32x32x2_b32_x4, 32, 8);
  for (const matrix_op op :
       {matrix_op::mfma_16x16x16_b8_x4, matrix_op::mfma_16x16x32_b8_x2, matrix_op::mfma_16x16x64_b8})
    expect_mfma(op, 16, 64);
  for (const matrix_op op :
       {matrix_op::mfma_32x32x8_b8_x4, matrix_op::mfma_32x32x16_b8_x2, matrix_op::mfma_32x32x32_b8})
    expect_mfma(op, 32, 32);
  expect_mfma(matrix_op::mfma_16x16x128_b8, 16, 128);
  expect_mfma(matrix_op::mfma_32x32x64_b8, 32, 64);
  EXPECT_EQ(num_issues(matrix_op::mfma_32x32x8_b8_x4), 4);
  EXPECT_EQ(num_issues(matrix_op::mfma_32x32x16_b8_x2), 2);
  EXPECT_EQ(num_issues(matrix_op::mfma_32x32x64_b8), 1);
}

TEST(MatrixInstruction, WmmaOfOtherElements) {
  const formula rdna3 = [](index_t lane, index_t j) { return matrix_position{lane % 16, j}; };
  expect_map(describe(matrix_op::wmma_16x16x16_b8_gfx11).a, 32, 16, rdna3, "A");
  const formula rdna4 = [](index_t lane, index_t j) { return matrix_position{lane % 16, 16 * (lane / 16) + j}; };
  expect_map(describe(matrix_op::wmma_16x16x16_b8_x2_gfx12).b, 32, 16, rdna4, "B");
  EXPECT_EQ(describe(matrix_op::wmma_16x16x16_b8_x2_gfx12).k, 32);
}

TEST(MatrixInstruction, TargetsTakeTheElementsThatTheyHaveInstructionsFor) {
  using enum matrix_op;
  using enum matrix_element;
  EXPECT_TRUE(gfx942::value.supports(mfma_32x32x16_b8_x2, fp8_fnuz) && gfx942::value.supports(mfma_32x32x16_b8_x2, i8));
  EXPECT_FALSE(gfx942::value.supports(mfma_32x32x16_b8_x2, fp8_ocp) ||
               gfx942::value.supports(mfma_32x32x16_b8_x2, f16));
  EXPECT_TRUE(gfx950::value.supports(mfma_32x32x64_b8, bf8_ocp));
  EXPECT_FALSE(gfx950::value.supports(mfma_32x32x64_b8, i8) || gfx950::value.supports(mfma_32x32x32_b8, fp8_ocp));
  EXPECT_FALSE(gfx90a::value.supports(mfma_32x32x8_b8_x4, fp8_fnuz) ||
               gfx1100::value.supports(wmma_16x16x16_b8_gfx11, fp8_ocp));
}

TEST(MatrixInstruction, WmmaOfRdna3) {
  const matrix_instruction d = describe(matrix_op::wmma_16x16x16_gfx11);
  const formula operand = [](index_t lane, index_t j) { return matrix_position{lane % 16, j}; };
  expect_map(d.a, 32, 16, operand, "A");
  expect_map(d.b, 32, 16, operand, "B");
  expect_map(d.c, 32, 8, [](index_t lane, index_t r) { return matrix_position{2 * r + lane / 16, lane % 16}; }, "C");
}

TEST(MatrixInstruction, WmmaOfRdna4) {
  const matrix_instruction d = describe(matrix_op::wmma_16x16x16_gfx12);
  const formula operand = [](index_t lane, index_t j) { return matrix_position{lane % 16, 8 * (lane / 16) + j}; };
  expect_map(d.a, 32, 8, operand, "A");
  expect_map(d.b, 32, 8, operand, "B");
  expect_map(d.c, 32, 8, [](index_t lane, index_t r) { return matrix_position{8 * (lane / 16) + r, lane % 16}; }, "C");
}

// PTX ISA, mma.m16n8k16: groupID = lane >> 2, threadID_in_group = lane % 4.
TEST(MatrixInstruction, MmaOfPtx) {
  const matrix_instruction d = describe(matrix_op::mma_m16n8k16_x2);
  const auto a = [](index_t lane, index_t i) {
    const index_t group = lane >> 2, thread = lane % 4;
    const bool upper_rows = !((0 <= i && i < 2) || (4 <= i && i < 6));
    return matrix_position{upper_rows ? group + 8 : group, thread * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  };
  // Elements 0-3 belong to the instruction for n = 0..7, elements 4-7 to the one for n = 8..15. Rows are n, columns k.
  const auto b = [](index_t lane, index_t element) {
    const index_t group = lane >> 2, thread = lane % 4, i = element % 4;
    return matrix_position{group + 8 * (element / 4), thread * 2 + (i & 1) + (i >= 2 ? 8 : 0)};
  };
  const auto c = [](index_t lane, index_t element) {
    const index_t group = lane >> 2, thread = lane % 4, i = element % 4;
    return matrix_position{i < 2 ? group : group + 8, thread * 2 + (i & 1) + 8 * (element / 4)};
  };
  expect_map(d.a, 32, 8, a, "A");
  expect_map(d.b, 32, 8, b, "B");
  expect_map(d.c, 32, 8, c, "C");
}

TEST(MatrixInstruction, EveryElementHasTheSameNumberOfOwners) {
  for (index_t i = 0; i <= index_t(matrix_op::wgmma_k32_b8); ++i) {
    const matrix_instruction d = describe(static_cast<matrix_op>(i));
    const std::pair<const lane_map*, matrix_position> operands[] = {
        {&d.a, {d.m, d.k}}, {&d.b, {d.n, d.k}}, {&d.c, {d.m, d.n}}};
    for (const auto& [map, extent] : operands) {
      EXPECT_TRUE(is_balanced(*map)) << i;
      EXPECT_EQ(map->extent(), extent) << i;
      std::map<std::pair<index_t, index_t>, index_t> owners;
      for (index_t lane = 0; lane < map->num_lanes(); ++lane) {
        for (index_t reg = 0; reg < map->num_registers(); ++reg) {
          const matrix_position p = map->at(lane, reg);
          ++owners[{p.row, p.col}];
        }
      }
      EXPECT_EQ(index_t(owners.size()), extent.row * extent.col) << i;
      for (const auto& [position, count] : owners) EXPECT_EQ(count, owners.begin()->second) << i;
    }
    EXPECT_EQ(d.c.num_lanes() * d.c.num_registers(), d.m * d.n) << "accumulators are never replicated";
  }
}

TEST(LaneMap, UnbalancedMapsAreRecognised) {
  static_assert(is_balanced(lane_map{bits(row(0), row(1)), bits(col(0))}));
  static_assert(is_balanced(lane_map{bits(row(0), none()), bits(col(0))}));
  static_assert(!is_balanced(lane_map{bits(row(0), row(0)), bits(col(0))}), "a bit is held twice");
  static_assert(!is_balanced(lane_map{bits(row(0), row(2)), bits(col(0))}), "a bit is missing");
}

}  // namespace
}  // namespace tilewright::arch
