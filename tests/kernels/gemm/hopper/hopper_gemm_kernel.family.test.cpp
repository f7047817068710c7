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

/// Stream-K on tiles of eight columns, in clusters, where one peer has one k tile: a head of one, and a range that
/// crosses tiles.
template <hopper_gemm_tile Tile>
void expect_one_k_tile(index_t tiles, index_t k_tiles, index_t resident) {
  using policy = gemm_hopper<half_t, k, k, Tile>;
  const gemm_args g{.m = 64 * Tile.cluster_m, .n = tiles * 8 * Tile.cluster_n, .k = k_tiles * 64};
  const stream_k_schedule schedule =
      tilewright::detail::make_stream_k_schedule(tilewright::detail::hopper_tile_order(g, Tile, resident), k_tiles,
                                                 resident, 100, tilewright::detail::split_cost_of(Tile));
  index_t least = k_tiles;
  for (index_t u = 0; u < schedule.num_work_tiles(); ++u)
    if (const tilewright::detail::work_tile work = schedule(u); !work.is_empty())
      least = min(least, work.k_end - work.k_begin);
  EXPECT_EQ(least, 1);
  (void)expect_split<policy>({.m = g.m, .n = g.n, .k = g.k, .beta = 1}, resident);
}

TEST(HopperTileFamily, StreamKOfOneKTile) {
  constexpr hopper_gemm_tile pair{.m = 64, .n = 8, .cluster_m = 2, .consumers = 1};
  expect_one_k_tile<pair>(1, 30, 10);
  expect_one_k_tile<pair>(3, 33, 5);
}

}  // namespace
}  // namespace tilewright::testing_gemm
