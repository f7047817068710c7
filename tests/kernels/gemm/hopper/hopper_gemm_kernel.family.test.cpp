// SPDX-License-Identifier: MIT
// Corners of the family of tiles of warp_specialized_pipeline on the CPU emulator: columns that are no multiple of 16,
// clusters whose blocks cannot all load a slice of B, and short k.
#include "check_hopper_gemm.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;

TEST(HopperTileFamily, EightColumns) {
  constexpr hopper_gemm_tile narrowest{.m = 64, .n = 8, .consumers = 1};
  expect_edges<gemm_hopper<half_t, k, k, narrowest>>(0.5f, 2);
  expect_edges<gemm_hopper<fp8_ocp_t, k, k, narrowest, bfloat16_t>>(1, 0);
}

/// C^T: 24 rows of C, where an epilogue and old elements of C are read.
TEST(HopperTileFamily, TwentyFourColumns) {
  constexpr hopper_gemm_tile swapped{.m = 128, .n = 24, .swap_ab = true};
  expect_edges<gemm_hopper<bfloat16_t, k, mn, swapped, bfloat16_t, epilogue::from_args>>(1, 2);
  constexpr hopper_gemm_tile tile{.m = 128, .n = 88, .cluster_n = 2};
  expect_edges<gemm_hopper<half_t, mn, mn, tile, half_t, epilogue::from_args>>(0.5f, 2);
}

/// Of four blocks that share five groups of 8 rows of B, one loads them; of six groups, two.
TEST(HopperTileFamily, BlocksThatLoadNothingOfB) {
  EXPECT_EQ((hopper_gemm_tile{.n = 40, .cluster_m = 4}).b_loaders(), 1);
  EXPECT_EQ((hopper_gemm_tile{.n = 48, .cluster_m = 4}).b_loaders(), 2);
  EXPECT_EQ((hopper_gemm_tile{.n = 64, .cluster_m = 4}).b_loaders(), 4);
  expect_edges<gemm_hopper<half_t, mn, k, hopper_gemm_tile{.m = 64, .n = 40, .cluster_m = 4, .consumers = 1}>>(1, 0);
  expect_edges<
      gemm_hopper<half_t, k, k, hopper_gemm_tile{.m = 64, .n = 24, .cluster_m = 4, .cluster_n = 2, .consumers = 1}>>(1,
                                                                                                                     0);
}

/// Alternating consumers with one box each, of fewer columns than a box has.
TEST(HopperTileFamily, PingPong) {
  constexpr hopper_gemm_tile alternating{.m = 64, .n = 56, .swap_ab = true, .ping_pong = true};
  using policy = gemm_hopper<bfloat16_t, k, k, alternating>;
  expect_edges<policy>(0.5f, 2);
  EXPECT_EQ(expect_split<policy>({.m = 168, .n = 64, .k = 116 * 64, .beta = 1}, 4), 3);
}

/// One consumer with 128 rows: k of one k tile and less, k that is split among more workers than there are tiles, and
/// equal splits.
TEST(HopperTileFamily, ShortK) {
  constexpr hopper_gemm_tile tile{.m = 128, .n = 72, .consumers = 1};
  using policy = gemm_hopper<half_t, k, k, tile>;
  for (const index_t k : {8, 64, 72})
    expect_hopper_gemm<policy>({.m = 136, .n = 152, .k = k, .beta = 1}, {.workers = 1, .resident_clusters = 5});
  EXPECT_GE(expect_split<policy>({.m = 128, .n = 144, .k = 40 * 64, .beta = 1}, 7), 0);
  expect_hopper_gemm<policy>({.m = 72, .n = 80, .k = 200, .beta = 2, .batch = 2, .gap = 8, .split_k = 3});
}

}  // namespace
}  // namespace tilewright::testing_gemm
