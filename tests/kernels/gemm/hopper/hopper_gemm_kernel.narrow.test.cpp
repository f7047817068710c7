// SPDX-License-Identifier: MIT
// Kernels of warp_specialized_pipeline on the CPU emulator: small tiles and those with swap_ab, for each kind of
// operands.
#include "check_hopper_gemm.hpp"

namespace tilewright::testing_gemm {
namespace {

TEST(WarpSpecializedTiles, Tile128x192InPairs) { expect_tile<3>(); }
TEST(WarpSpecializedTiles, Tile128x112InFours) { expect_tile<4>(); }
TEST(WarpSpecializedTiles, Tile192x128InPairsInTurns) { expect_tile<5>(); }
TEST(WarpSpecializedTiles, Tile64x64WithOneConsumer) { expect_tile<6>(); }

using enum operand_major;

/// C^T: rows of C are columns of the tile, and an epilogue reads single elements.
TEST(WarpSpecializedTiles, SwapAB) {
  constexpr hopper_gemm_tile narrow{.m = 128, .n = 80, .swap_ab = true};
  expect_edges<gemm_hopper<half_t, mn, k, narrow>>(0.5f, 0);
  expect_edges<gemm_hopper<bfloat16_t, k, mn, narrow, bfloat16_t, epilogue::from_args>>(1, 2);
  constexpr hopper_gemm_tile pair{.m = 256, .n = 160, .cluster_n = 2, .swap_ab = true};
  expect_edges<gemm_hopper<fp8_ocp_t, k, k, pair, bfloat16_t>>(2, 0.5f);
}

/// Each consumer has tiles of its own: any number of them, with one k tile or with many, and the parts of two.
TEST(WarpSpecializedTiles, PingPong) {
  using pair = gemm_hopper<half_t, mn, k, hopper_gemm_tile{.m = 128, .n = 80, .cluster_m = 2, .ping_pong = true}>;
  expect_edges<pair>(0.5f, 2);
  using one = gemm_hopper<bfloat16_t, k, k, hopper_gemm_tile{.m = 64, .n = 64, .ping_pong = true}>;
  for (const index_t tiles : {1, 2, 3, 6})
    expect_hopper_gemm<one>({.m = 64, .n = tiles * 64, .k = tiles == 6 ? 8 : 304},
                            {.workers = 1, .resident_clusters = 1});
  EXPECT_EQ(expect_split<one>({.m = 64, .n = 192, .k = 116 * 64, .beta = 1}, 4), 3);
}

TEST(WarpSpecializedTiles, PingPongPassesInExploredSchedules) {
  using one = gemm_hopper<bfloat16_t, k, k, hopper_gemm_tile{.m = 64, .n = 64, .ping_pong = true}>;
  explore_hopper_gemm<one>({.m = 64, .n = 3 * 64, .k = 200, .beta = 1});
}

TEST(WarpSpecializedPipeline, LastRoundIsSplit) {
  using one = gemm_hopper<bfloat16_t, k, k, hopper_gemm_tiles[6]>;
  EXPECT_EQ(expect_split<one>({.m = 64, .n = 64, .k = 20 * 64, .beta = 1}, 2), 1);
  EXPECT_EQ(expect_split<one>({.m = 64, .n = 192, .k = 116 * 64, .beta = 1}, 4), 3);
  using pair = gemm_hopper<half_t, k, k, hopper_gemm_tile{.m = 128, .n = 64, .cluster_n = 2}>;
  EXPECT_EQ(expect_split<pair>({.m = 128, .n = 128, .k = 20 * 64, .beta = 1}, 3), 1);
  // A worker has the end of a tile and the beginning of the next, both with the other block of its cluster.
  using crossing = gemm_hopper<half_t, mn, k, hopper_gemm_tile{.m = 64, .n = 32, .cluster_m = 2, .consumers = 1}>;
  EXPECT_EQ(expect_split<crossing>({.m = 120, .n = 256, .k = 31 * 64, .beta = 1}, 5), 0) << "after five whole tiles";
}

TEST(WarpSpecializedPipeline, StreamKPassesInExploredSchedules) {
  using pair = gemm_hopper<half_t, k, k, hopper_gemm_tile{.m = 128, .n = 64, .cluster_n = 2}>;
  explore_hopper_gemm<pair>({.m = 128, .n = 128, .k = 20 * 64, .beta = 1}, 3);
  using crossing = gemm_hopper<half_t, mn, k, hopper_gemm_tile{.m = 64, .n = 32, .cluster_m = 2, .consumers = 1}>;
  explore_hopper_gemm<crossing>({.m = 120, .n = 32, .k = 16 * 64, .beta = 1}, 2);
}
TEST(WarpSpecializedPipeline, SplitKPassesInExploredSchedules) {
  using pair = gemm_hopper<half_t, k, k, hopper_gemm_tile{.m = 128, .n = 64, .cluster_n = 2}>;
  explore_hopper_gemm<pair>({.m = 64, .n = 128, .k = 256, .beta = 2, .split_k = 2});
}

/// Every tile is split into parts, which another kernel adds up.
TEST(WarpSpecializedPipeline, EqualPartsOfAllTiles) {
  using pair = gemm_hopper<half_t, k, k, hopper_gemm_tile{.m = 128, .n = 64, .cluster_n = 2}>;
  expect_hopper_gemm<pair>({.m = 136, .n = 200, .k = 456, .beta = 2, .batch = 2, .gap = 8, .split_k = 3});
  constexpr hopper_gemm_tile narrow{.m = 128, .n = 80, .swap_ab = true};
  expect_hopper_gemm<gemm_hopper<bfloat16_t, k, mn, narrow, bfloat16_t, epilogue::from_args>>(
      {.m = 88, .n = 152, .k = 320, .beta = 2, .split_k = 5});
  // Odd n, as in copies of operands: rows of C have room for another column, which may change.
  hopper_gemm_case<pair> odd({.m = 72, .n = 39, .k = 127, .beta = 2, .gap = 9, .split_k = 2});
  std::vector<float> parts(std::size_t(workspace_bytes(odd.args)) / 4);
  odd.args.workspace = parts.data();
  tilewright::detail::launch_checked<gemm_kernel<pair>>(odd.args, {.workers = 1});
  for (std::size_t i = 39; i < odd.c.size(); i += 48) odd.c[i] = odd.expected[i];
  expect_result(odd);
  alignas(16) float workspace[4] = {};
  gemm_args args{.m = 8192, .n = 2048, .k = 128, .lda = 128, .ldb = 128, .ldc = 2048, .split_k = 2};
  EXPECT_STREQ(gemm_kernel<pair>::check(args), "split_k needs a hopper_gemm_workspace");
  args.workspace = workspace;
  const char* const limits =
      "split_k must be positive, not larger than the number of block tiles along k, and its parts must fit in a "
      "hopper_gemm_workspace";
  EXPECT_STREQ(gemm_kernel<pair>::check(args), limits) << "too large for the workspace";
  args.m = 1024;
  EXPECT_EQ(gemm_kernel<pair>::check(args), nullptr);
  args.split_k = 3;
  EXPECT_STREQ(gemm_kernel<pair>::check(args), limits) << "more parts than block tiles along k";
  args.split_k = 2;
  using in_turns = gemm_hopper<half_t, k, k, hopper_gemm_tile{.m = 128, .n = 80, .cluster_m = 2, .ping_pong = true}>;
  EXPECT_STREQ(gemm_kernel<in_turns>::check(args), "this kernel does not split k into equal parts: set split_k to 1");
  args.split_k = 1;
  EXPECT_EQ(gemm_kernel<in_turns>::check(args), nullptr);
}

}  // namespace
}  // namespace tilewright::testing_gemm
