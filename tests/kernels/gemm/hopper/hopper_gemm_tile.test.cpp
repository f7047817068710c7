// SPDX-License-Identifier: MIT
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/hopper/slot_epilogue.hpp>

#include <gtest/gtest.h>

#include <set>

namespace tw = tilewright;
using tw::operand_major;

namespace {

template <tw::hopper_gemm_tile Tile>
using policy = tw::hopper_gemm_block<tw::gemm_hopper<tw::half_t, operand_major::k, operand_major::mn, Tile>>;

TEST(HopperGemmTile, WhatLiesInLdsDoesNotOverlap) {
  using large = policy<tw::hopper_gemm_tile{.cluster_m = 2}>;
  EXPECT_EQ(large::num_stages, 4);
  EXPECT_EQ(large::lds.stage_bytes(), (128 + 256) * 64 * 2);
  EXPECT_EQ(large::regions.slots, 4 * large::lds.stage_bytes());
  EXPECT_EQ(large::lds.num_slots(), 4);
  EXPECT_EQ(large::regions.barriers, large::regions.slots + 4 * 64 * 64 * 2);
  EXPECT_LE(large::regions.bytes, 227 * 1024);
  using small = policy<tw::hopper_gemm_tile{.m = 64, .n = 64, .consumers = 1}>;
  EXPECT_EQ(small::num_stages, 12);
  EXPECT_EQ(small::lds.num_slots(), 1);
  EXPECT_LE(8 * small::lds.num_barriers(), tw::detail::hopper_gemm_lds::barrier_bytes);
}

// So a box has the same slot in each tile.
TEST(HopperGemmTile, SlotsDivideTheBoxesOfATile) {
  EXPECT_EQ((policy<tw::hopper_gemm_tile{.m = 256, .n = 160, .cluster_n = 2}>::lds.num_slots()), 10);  // of 20; 14 fit
  EXPECT_EQ((policy<tw::hopper_gemm_tile{.n = 192, .cluster_m = 2}>::lds.num_slots()), 6);             // of 6; 8 fit
}

// The first of two consumers is done with its boxes before the second one begins, so that one can multiply meanwhile.
TEST(HopperGemmTile, EachElementOfATileIsInOneBoxOfItsConsumer) {
  for (const tw::hopper_gemm_tile& t : tw::hopper_gemm_tiles) {
    std::set<std::pair<int, int>> places;
    for (int number = 0; number < t.num_boxes(); ++number) {
      const auto [m, n, consumer] = t.origin_of_box(number);
      const int box = number - t.box_number(consumer, 0);
      EXPECT_TRUE(consumer >= 0 && consumer < t.consumers_per_tile() && box >= 0 && box < t.boxes_per_consumer());
      EXPECT_EQ(m, (box / t.boxes_per_row() * t.consumers_per_tile() + consumer) * 64);
      EXPECT_EQ(n, box % t.boxes_per_row() * t.box_n());
      EXPECT_TRUE(m < t.m && n < t.n);
      places.insert({m, n});
    }
    EXPECT_EQ(int(places.size()), t.m / 64 * tw::ceil_div(t.n, t.box_n()));
  }
}

TEST(HopperGemmTile, WritingResultsHasNoBankConflicts) {
  const auto wide = tw::detail::predict_box_store<policy<tw::hopper_gemm_tile{.cluster_m = 2}>>();
  EXPECT_EQ(wide.op, tw::arch::lds_op::stmatrix);
  EXPECT_EQ(wide.executions, 4);  // of one wave, for 16 x 64
  EXPECT_EQ(wide.conflicts, 0);
  const auto narrow = tw::detail::predict_box_store<policy<tw::hopper_gemm_tile{.n = 160, .cluster_m = 2}>>();
  EXPECT_EQ(narrow.executions, 2);
  EXPECT_EQ(narrow.conflicts, 0);
}

TEST(HopperGemmTile, UnsoundTiles) {
  EXPECT_FALSE((tw::hopper_gemm_tile{.m = 96}).is_sound());
  EXPECT_FALSE((tw::hopper_gemm_tile{.n = 68}).is_sound());
  EXPECT_FALSE((tw::hopper_gemm_tile{.m = 256, .n = 256}).is_sound());  // too many accumulators
  EXPECT_FALSE((tw::hopper_gemm_tile{.m = 192, .consumers = 3}).is_sound());
  EXPECT_FALSE((tw::hopper_gemm_tile{.cluster_m = 3}).is_sound());
  EXPECT_FALSE((tw::hopper_gemm_tile{.cluster_m = 4, .cluster_n = 4}).is_sound());
  EXPECT_TRUE((tw::hopper_gemm_tile{.cluster_m = 2, .cluster_n = 2}).is_sound());
}

// setmaxnreg: an SM has 512 registers for each of a warpgroup's threads.
static_assert(tw::detail::role_registers{.producer = 40, .consumer = 232}.fit(1, 2));
static_assert(tw::detail::role_registers{.producer = 32, .consumer = 160}.fit(1, 3));
static_assert(!tw::detail::role_registers{.producer = 40, .consumer = 240}.fit(1, 2));
static_assert(!tw::detail::role_registers{.producer = 40, .consumer = 232}.fit(2, 2));
static_assert(!tw::detail::role_registers{.producer = 24, .consumer = 240}.fit(1, 1, 2));
static_assert(!tw::detail::role_registers{.producer = 40, .consumer = 104}.fit(1, 2, 2), "80 to start with");
static_assert(tw::detail::role_registers{.producer = 0, .consumer = 0}.fit(1, 1, 4));

}  // namespace
