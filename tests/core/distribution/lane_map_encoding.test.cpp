// SPDX-License-Identifier: MIT
// The distribution of a matrix operand says the same as its lane map: for every instruction, operand,
// lane and register.
#include "naive_distribution.hpp"

#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

enum class operand { a, b, c };

constexpr arch::lane_map map_of(arch::matrix_op op, operand which) {
  const arch::matrix_instruction i = arch::describe(op);
  return which == operand::a ? i.a : which == operand::b ? i.b : i.c;
}

template <arch::matrix_op Op, operand Which>
void expect_same() {
  constexpr arch::lane_map map = map_of(Op, Which);
  constexpr distribution_encoding encoding = encoding_of(map);
  using distribution = tile_distribution<encoding>;
  SCOPED_TRACE("operation " + std::to_string(int(Op)) + ", operand " + std::to_string(int(Which)));
  ASSERT_EQ(distribution::num_elements, map.num_registers());
  ASSERT_EQ(distribution::num_threads(), map.num_lanes());
  EXPECT_EQ(distribution::x_lengths[0], map.extent().row);
  EXPECT_EQ(distribution::x_lengths[1], map.extent().col);
  EXPECT_EQ(naive::ownership_fault(encoding), "");
  index_t reg = 0;
  naive::each_index(naive::y_lengths(encoding), [&](const naive::indices& y) {
    multi_index<distribution::ndim_y> yi{};
    for (index_t i = 0; i < distribution::ndim_y; ++i) yi[i] = y[std::size_t(i)];
    for (index_t lane = 0; lane < map.num_lanes(); ++lane) {
      const auto first = distribution::calculate_index({lane}), step = distribution::y_to_x(yi);
      ASSERT_EQ((arch::matrix_position{first[0] + step[0], first[1] + step[1]}), map.at(lane, reg))
          << "lane " << lane << ", register " << reg;
      const naive::indices by_definition = naive::position(encoding, {lane}, y);
      ASSERT_EQ((arch::matrix_position{by_definition[0], by_definition[1]}), map.at(lane, reg));
    }
    ++reg;
  });
}

template <arch::matrix_op Op>
void expect_same_for_all_operands() {
  expect_same<Op, operand::a>();
  expect_same<Op, operand::b>();
  expect_same<Op, operand::c>();
}

TEST(LaneMapEncoding, EveryInstruction) {
  using enum arch::matrix_op;
  expect_same_for_all_operands<mfma_16x16x16>();
  expect_same_for_all_operands<mfma_16x16x16_x2>();
  expect_same_for_all_operands<mfma_32x32x8>();
  expect_same_for_all_operands<mfma_32x32x8_x2>();
  expect_same_for_all_operands<mfma_16x16x32>();
  expect_same_for_all_operands<mfma_32x32x16>();
  expect_same_for_all_operands<wmma_16x16x16_gfx11>();
  expect_same_for_all_operands<wmma_16x16x16_gfx12>();
  expect_same_for_all_operands<mma_m16n8k16_x2>();
}

}  // namespace
}  // namespace tilewright
