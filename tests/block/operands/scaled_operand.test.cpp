// SPDX-License-Identifier: MIT
// Words and scales of block-scaled operands: every one is read, by the waves of the other dimension alike.
#include "../../core/distribution/naive_distribution.hpp"

#include <tilewright/block/operands/scaled_operand.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

template <class Format, block_tile Tile, bool IsB>
void expect_sound() {
  using operand = scaled_operand<Format, Tile, IsB>;
  for (const distribution_encoding& e : {operand::read, operand::scales}) {
    ASSERT_TRUE(check_encoding(e).is_sound());
    EXPECT_EQ(naive::ownership_fault(e), "");
    EXPECT_EQ(e.x_length(0), IsB ? Tile.n : Tile.m);
    EXPECT_EQ(naive::partition_lengths(e), (naive::indices{Tile.num_waves(), 64}));
    EXPECT_EQ(e.r[0], IsB ? Tile.waves_m : Tile.waves_n) << "copies";
  }
}

TEST(ScaledOperand, WavesOfTheOtherDimensionHoldCopies) {
  constexpr block_tile wide{64, 128, 256, 2, 2, arch::matrix_op::mfma_16x16x128_b8};
  constexpr block_tile tall{128, 64, 256, 4, 1, arch::matrix_op::mfma_16x16x128_b8};
  expect_sound<mxfp8_format, wide, false>();
  expect_sound<mxfp8_format, wide, true>();
  expect_sound<mxfp4_format, tall, false>();
  expect_sound<mxfp4_format, tall, true>();
}

}  // namespace
}  // namespace tilewright
