// SPDX-License-Identifier: MIT
// The lane maps of AMD's matrix instructions against the rules of AMD's matrix instruction calculator, restated for one
// instruction at a time (github.com/ROCm/amd_matrix_instruction_calculator; gfx1250: AMD's simulator). Groups of
// instructions rename k.
#include <tilewright/core/arch/matrix_instruction.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

namespace tilewright::arch {
namespace {

/// An operand's or accumulator's element: (row, k) or (row, column) of lane and item, one instruction alone.
using rule = std::function<matrix_position(index_t lane, index_t item)>;

struct amd_instruction {
  matrix_op op;
  index_t issues, k, items;  // of one instruction: its length along k, the elements of A that a lane holds
  rule input, output;
};

/// A lane holds consecutive k; with two chunks (8-bit elements of the f8f6f4 instructions) the second half of k
/// follows the first.
rule mfma_input(index_t m, index_t items, index_t chunks = 1) {
  return [=](index_t lane, index_t item) {
    const index_t chunk = items / chunks;
    return matrix_position{lane % m, chunk * (lane / m) + item % chunk + item / chunk * chunk * (64 / m)};
  };
}
matrix_position mfma_output_16(index_t lane, index_t item) { return {4 * (lane / 16) + item, lane % 16}; }
matrix_position mfma_output_32(index_t lane, index_t item) {
  return {8 * (item / 4) + 4 * (lane / 32) + item % 4, lane % 32};
}
amd_instruction mfma(matrix_op op, index_t m, index_t k, index_t issues = 1, index_t chunks = 1) {
  const index_t items = m * k / 64;
  return {op, issues, k, items, mfma_input(m, items, chunks), m == 16 ? mfma_output_16 : mfma_output_32};
}

matrix_position gfx11_input(index_t lane, index_t item) { return {lane % 16, item}; }
matrix_position gfx11_output(index_t lane, index_t item) { return {2 * item + lane / 16, lane % 16}; }
matrix_position gfx12_input(index_t lane, index_t item) { return {lane % 16, 8 * (lane / 16) + item}; }
matrix_position gfx12_output(index_t lane, index_t item) { return {8 * (lane / 16) + item, lane % 16}; }

/// AMD's rocjitsu (shared/mma_exec.h): chunks of 16 bytes belong to lanes 0-15 and 16-31 alternately.
rule gfx1250_input(index_t chunk) {
  return [=](index_t lane, index_t item) {
    const index_t k = item / chunk * 2 * chunk + lane / 16 * chunk + item % chunk;
    return matrix_position{lane % 16, k};
  };
}

std::vector<amd_instruction> instructions() {
  using enum matrix_op;
  return {mfma(mfma_16x16x16, 16, 16),
          mfma(mfma_16x16x16_x2, 16, 16, 2),
          mfma(mfma_32x32x8, 32, 8),
          mfma(mfma_32x32x8_x2, 32, 8, 2),
          mfma(mfma_16x16x32, 16, 32),
          mfma(mfma_32x32x16, 32, 16),
          mfma(mfma_16x16x4_b32_x4, 16, 4, 4),
          mfma(mfma_32x32x2_b32_x4, 32, 2, 4),
          mfma(mfma_16x16x16_b8_x4, 16, 16, 4),
          mfma(mfma_32x32x8_b8_x4, 32, 8, 4),
          mfma(mfma_16x16x32_b8_x2, 16, 32, 2),
          mfma(mfma_32x32x16_b8_x2, 32, 16, 2),
          mfma(mfma_16x16x64_b8, 16, 64),
          mfma(mfma_32x32x32_b8, 32, 32),
          mfma(mfma_16x16x128_b8, 16, 128, 1, 2),
          mfma(mfma_32x32x64_b8, 32, 64, 1, 2),
          {wmma_16x16x16_gfx11, 1, 16, 16, gfx11_input, gfx11_output},
          {wmma_16x16x16_b8_gfx11, 1, 16, 16, gfx11_input, gfx11_output},
          {wmma_16x16x16_gfx12, 1, 16, 8, gfx12_input, gfx12_output},
          {wmma_16x16x16_b8_x2_gfx12, 2, 16, 8, gfx12_input, gfx12_output},
          {wmma_16x16x32_gfx1250, 1, 32, 16, gfx1250_input(8), gfx12_output},
          {wmma_16x16x64_b8_gfx1250, 1, 64, 32, gfx1250_input(16), gfx12_output},
          {wmma_16x16x128_b8_gfx1250, 1, 128, 64, gfx1250_input(16), gfx12_output}};
}

/// AMD's k for each k of the library's map, issue by issue; empty if one k has two, or if rows differ.
std::vector<index_t> amd_k(const amd_instruction& amd, const lane_map& map, index_t k) {
  std::vector<index_t> result(std::size_t(k), -1);
  for (index_t lane = 0; lane < map.num_lanes(); ++lane) {
    for (index_t reg = 0; reg < map.num_registers(); ++reg) {
      const matrix_position ours = map.at(lane, reg), theirs = amd.input(lane, reg % amd.items);
      index_t& of_k = result[std::size_t(ours.col)];
      const index_t wanted = reg / amd.items * amd.k + theirs.col;
      if (ours.row != theirs.row || (of_k >= 0 && of_k != wanted)) return {};
      of_k = wanted;
    }
  }
  return result;
}

bool is_identity(const std::vector<index_t>& permutation) {
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != index_t(i)) return false;
  }
  return true;
}

TEST(AmdLaneRules, OperandsPairTheSameKAndAccumulatorsAgree) {
  for (const amd_instruction& amd : instructions()) {
    const matrix_instruction ours = describe(amd.op);
    SCOPED_TRACE(index_t(amd.op));
    EXPECT_EQ(ours.k, amd.k * amd.issues);
    EXPECT_EQ(num_issues(amd.op), amd.issues);
    const std::vector<index_t> a = amd_k(amd, ours.a, ours.k), b = amd_k(amd, ours.b, ours.k);
    ASSERT_FALSE(a.empty()) << "rows, or one k with two places";
    EXPECT_EQ(a, b) << "A and B must rename k alike";
    EXPECT_EQ(std::set<index_t>(a.begin(), a.end()).size(), a.size());
    EXPECT_EQ(*std::set<index_t>(a.begin(), a.end()).begin(), 0);
    for (index_t lane = 0; lane < ours.c.num_lanes(); ++lane) {
      for (index_t reg = 0; reg < ours.c.num_registers(); ++reg)
        ASSERT_EQ(ours.c.at(lane, reg), amd.output(lane, reg)) << "lane " << lane << ", register " << reg;
    }
    // Single instructions keep AMD's order of k, but for the two below.
    const bool has_chunks = amd.op == matrix_op::mfma_16x16x128_b8 || amd.op == matrix_op::mfma_32x32x64_b8;
    EXPECT_EQ(is_identity(a), amd.issues == 1 && !has_chunks);
  }
}

// A lane holds 32 neighbouring k here, and two chunks of 16 in AMD's order. Sums are the same, but scales of blocks of
// 32 along k belong to AMD's order.
TEST(AmdLaneRules, TheLongestInstructionsRenameKInChunksOf16) {
  for (const auto& [op, groups] : {std::pair{matrix_op::mfma_16x16x128_b8, 4}, {matrix_op::mfma_32x32x64_b8, 2}}) {
    const matrix_instruction ours = describe(op);
    const std::vector<index_t> k = amd_k(mfma(op, ours.m, ours.k, 1, 2), ours.a, ours.k);
    for (index_t i = 0; i < ours.k; ++i) {
      const index_t group = i / 32, chunk = i / 16 % 2;
      EXPECT_EQ(k[std::size_t(i)], 16 * groups * chunk + 16 * group + i % 16) << i;
    }
  }
}

}  // namespace
}  // namespace tilewright::arch
