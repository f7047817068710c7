// SPDX-License-Identifier: MIT
#include <tilewright/gemm/specialized_choice.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tw = tilewright;

namespace {

tw::specialized_tile chosen(int m, int n, int k, bool b_along_k = true) {
  const tw::gemm_args g{.m = m, .n = n, .k = k, .lda = k, .ldb = b_along_k ? k : n, .ldc = n};
  return tw::specialized_tiles[tw::choose_specialized(g, {.b_along_k = b_along_k}, 132).tile];
}

TEST(SpecializedChoice, AllTilesAreSound) {
  for (const tw::specialized_tile& t : tw::specialized_tiles) EXPECT_TRUE(t.is_sound());
}

// What was fastest where all tiles were timed on an H100.
TEST(SpecializedChoice, TilesThatWereFastest) {
  for (const bool b_along_k : {true, false}) {
    EXPECT_EQ(chosen(4096, 4096, 4096, b_along_k), (tw::specialized_tile{.m = 128, .n = 256, .share_b = 2}));
    EXPECT_EQ(chosen(8192, 28672, 8192, b_along_k), (tw::specialized_tile{.m = 128, .n = 256, .share_b = 2}));
    EXPECT_EQ(chosen(12480, 8192, 320, b_along_k),
              (tw::specialized_tile{.m = 128, .n = 176, .share_b = 2, .ping_pong = true}));
    EXPECT_EQ(chosen(9920, 832, 7808, b_along_k),
              (tw::specialized_tile{.m = 128, .n = 176, .share_b = 2, .ping_pong = true}));
    EXPECT_EQ(chosen(322, 2176, 9216, b_along_k), (tw::specialized_tile{.m = 128, .n = 112, .share_a = 4}));
    EXPECT_EQ(chosen(1408, 1600, 3392, b_along_k),
              (tw::specialized_tile{.m = 128, .n = 160, .share_b = 4, .share_a = 2}));
  }
}

// What few blocks would multiply for long is split, if the parts have room in the workspace.
TEST(SpecializedChoice, PartsOfLongK) {
  const auto choice = [](int m, int n, int k) {
    return tw::choose_specialized({.m = m, .n = n, .k = k}, {}, 132, 16);
  };
  EXPECT_GT(choice(14, 256, 22144).parts, 4);
  EXPECT_EQ(choice(4096, 4096, 4096).parts, 1);
  const tw::gemm_args g{.m = 1024, .n = 1021, .k = 32768};
  tw::index_t most = 0;
  tw::for_each_specialized(g, {}, 132, 16, [&](const auto& c) { most = std::max(most, c.parts); });
  EXPECT_EQ(most, tw::specialized_workspace::num_floats / (1024 * 1024));
}

// Twice the work takes about twice as long, and no product is predicted faster than the tensor cores.
TEST(SpecializedChoice, PredictionsFollowTheWork) {
  const tw::specialized_tile t{.m = 128, .n = 256, .share_b = 2};
  const auto clocks = [&](int m) {
    const tw::gemm_args g{.m = m, .n = 4096, .k = 4096, .lda = 4096, .ldb = 4096, .ldc = 4096};
    return tw::predict_specialized_clocks(g, t, {}, 132);
  };
  EXPECT_NEAR(clocks(16384) / clocks(8192), 2, 0.1);
  EXPECT_GT(clocks(8192), 2.0 * 8192 * 4096 * 4096 / (132 * 4096));
}

}  // namespace
