// SPDX-License-Identifier: MIT
// Hopper GEMM kernels on the CPU backend: the last four of hopper_tiles, for each kind of operands.
#include "check_hopper.hpp"

namespace tilewright::testing_gemm {
namespace {

TEST(HopperTiles, Tile128x192InPairs) { expect_tile<4>(); }
TEST(HopperTiles, Tile128x128InPairs) { expect_tile<5>(); }
TEST(HopperTiles, Tile128x64InPairsThatShareA) { expect_tile<6>(); }
TEST(HopperTiles, Tile64x64WithOneConsumer) { expect_tile<7>(); }

using enum operand_major;

/// The last round of tiles is split along k.
template <class Policy>
void expect_split(index_t m, index_t n, index_t k_tiles, index_t resident, bool across_tiles) {
  const problem p{.m = m, .n = n, .k = k_tiles * Policy::tile_k, .beta = 1};
  const work_schedule schedule =
      make_work_schedule(hopper_order({.m = m, .n = n}, Policy::tile, resident), k_tiles, resident, 2 * resident);
  EXPECT_GT(schedule.max_parts(), 1);
  EXPECT_EQ(schedule.shares_cross_tiles(), across_tiles);
  for (const int workers : {1, 3}) expect_hopper<Policy>(p, {.workers = workers, .resident_clusters = resident});
}

TEST(HopperKernel, LastRoundIsSplit) {
  using one = hopper_policy<bfloat16_t, k, k, hopper_tiles[7]>;
  expect_split<one>(64, 64, 20, 2, false);
  expect_split<one>(64, 192, 48, 4, true);
  using pair = hopper_policy<half_t, k, k, hopper_tiles[6]>;
  expect_split<pair>(128, 128, 20, 3, false);
}

}  // namespace
}  // namespace tilewright::testing_gemm
