// SPDX-License-Identifier: MIT
#include <tilewright/gemm/hopper/hopper_tile.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;
using tw::operand_major;

namespace {

template <tw::hopper_tile Tile>
using policy = tw::hopper_policy<tw::half_t, operand_major::k, operand_major::mn, Tile>;

TEST(HopperTile, WhatLiesInLdsDoesNotOverlap) {
  using large = policy<tw::hopper_tile{.share_b = 2}>;
  EXPECT_EQ(large::num_stages, 4);
  EXPECT_EQ(large::lds.stage_bytes(), (128 + 256) * 64 * 2);
  EXPECT_EQ(large::lds.boxes_offset(), 4 * large::lds.stage_bytes());
  EXPECT_EQ(large::lds.boxes_bytes(), 8 * 2 * 16 * 64 * 2);
  EXPECT_LE(large::lds.bytes(), 227 * 1024);
  using small = policy<tw::hopper_tile{.m = 64, .n = 64, .consumers = 1}>;
  EXPECT_EQ(small::num_stages, 12);
  EXPECT_LE(8 * (2 * small::num_stages + 4), tw::hopper_lds::barrier_bytes);
}

TEST(HopperTile, WritingResultsHasNoBankConflicts) {
  const auto wide = tw::predict_box_store<policy<tw::hopper_tile{.share_b = 2}>>();
  EXPECT_EQ(wide.op, tw::arch::lds_op::stmatrix);
  EXPECT_EQ(wide.executions, 4);  // of one wave, for 16 x 64
  EXPECT_EQ(wide.conflicts, 0);
  const auto narrow = tw::predict_box_store<policy<tw::hopper_tile{.n = 160, .share_b = 2}>>();
  EXPECT_EQ(narrow.executions, 2);
  EXPECT_EQ(narrow.conflicts, 0);
}

TEST(HopperTile, UnsoundTiles) {
  EXPECT_FALSE((tw::hopper_tile{.m = 96}).is_sound());
  EXPECT_FALSE((tw::hopper_tile{.n = 96}).is_sound());
  EXPECT_FALSE((tw::hopper_tile{.m = 256, .n = 256}).is_sound());  // too many accumulators
  EXPECT_FALSE((tw::hopper_tile{.m = 192, .n = 256, .consumers = 3}).is_sound());
  EXPECT_TRUE((tw::hopper_tile{.m = 192, .n = 192, .consumers = 3}).is_sound());
  EXPECT_FALSE((tw::hopper_tile{.share_b = 3}).is_sound());
  EXPECT_FALSE((tw::hopper_tile{.share_b = 4, .share_a = 4}).is_sound());
  EXPECT_TRUE((tw::hopper_tile{.share_b = 2, .share_a = 2}).is_sound());
}

}  // namespace
