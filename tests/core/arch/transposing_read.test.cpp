// SPDX-License-Identifier: MIT
// Which lane receives what from transposing reads, against the matrices of the manuals, element by element.
#include "is_balanced.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/core/arch/transposing_read.hpp>

#include <gtest/gtest.h>

namespace tilewright::arch {
namespace {

TEST(TransposingRead, GivesLaneIColumnIOfARowMajorMatrixOf16Columns) {
  for (const index_t bytes : {1, 2}) {
    const lds_op op = transposing_read_op(bytes);
    const index_t length = 8 / bytes;
    EXPECT_EQ(exchange_of(op).vector_length(), length);
    EXPECT_FALSE(exchange_of(op).is_identity());
    for (index_t lane = 0; lane < 64; ++lane) {
      for (index_t row = 0; row < length; ++row) {
        // Element (row, lane % 16) of the matrix of this group, which its lanes address one after another.
        const index_t place = row * 16 + lane % 16;
        const lane_element from{lane / 16 * 16 + place / length, place % length};
        EXPECT_EQ(source_of_transposing_read(op, {lane, row}), from) << bytes << ", " << lane << ", " << row;
      }
    }
  }
  EXPECT_EQ(transposing_read_op(4), lds_op::read_b64);
  EXPECT_TRUE(exchange_of(lds_op::read_b64).is_identity());
}

TEST(TransposingRead, OfLdmatrixGivesColumnsOfFourMatrices) {
  for (index_t lane = 0; lane < 32; ++lane) {
    for (index_t element = 0; element < 8; ++element) {
      const index_t matrix = element / 2, row = 2 * (lane % 4) + element % 2, column = lane / 4;
      const lane_element from{8 * matrix + row, column};
      EXPECT_EQ(source_of_transposing_read(lds_op::ldmatrix, {lane, element}), from);
    }
  }
}

// What lanes address is where the elements that they receive come from.
TEST(TransposingRead, AddressMapsLeadToTheOperandsRegisters) {
  const auto check = [](lds_op op, const lane_map& operand) {
    const lane_map addressed = address_map(exchange_of(op), operand);
    EXPECT_TRUE(is_balanced(addressed));
    const index_t length = exchange_of(op).vector_length();
    for (index_t lane = 0; lane < operand.num_lanes(); ++lane) {
      for (index_t r = 0; r < operand.num_registers(); ++r) {
        const lane_element from = source_of_transposing_read(op, {lane, r % length});
        EXPECT_EQ(addressed.at(from.lane, r / length * length + from.element), operand.at(lane, r));
      }
    }
    // A vector runs along the row (or column) number.
    const matrix_position first = addressed.at(0, 0), second = addressed.at(0, 1);
    EXPECT_EQ(second.row - first.row, 1);
    EXPECT_EQ(second.col, first.col);
  };
  using enum matrix_op;
  for (const matrix_op op :
       {mfma_16x16x16, mfma_16x16x16_x2, mfma_32x32x8, mfma_32x32x8_x2, mfma_16x16x32, mfma_32x32x16}) {
    check(lds_op::read_b64_tr_b16, describe(op).a);
    check(lds_op::read_b64_tr_b16, describe(op).b);
  }
  for (const matrix_op op : {mfma_16x16x64_b8, mfma_16x16x128_b8, mfma_32x32x64_b8})
    check(lds_op::read_b64_tr_b8, describe(op).b);
  check(lds_op::ldmatrix, describe(mma_m16n8k16_x2).a);
}

TEST(TransposingRead, DependsOnTheTargetsInstruction) {
  EXPECT_EQ(transposing_op(gfx950::value, 2), lds_op::read_b64_tr_b16);
  EXPECT_EQ(transposing_op(gfx950::value, 1), lds_op::read_b64_tr_b8);
  EXPECT_EQ(transposing_op(gfx950::value, 4), lds_op::read_b32);
  EXPECT_EQ(transposing_op(sm90::value, 2), lds_op::ldmatrix);
  EXPECT_EQ(transposing_op(sm90::value, 1), lds_op::read_b8);
  EXPECT_EQ(transposing_op(gfx942::value, 2), lds_op::read_b16);
}

TEST(TransposingRead, OfNoLaneIsTheFirstElement) { static_assert(lane_element{} == lane_element{0, 0}); }

}  // namespace
}  // namespace tilewright::arch
