// SPDX-License-Identifier: MIT
#include <tilewright/block/schedule/tile_order.hpp>

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace tw = tilewright;

namespace {

TEST(TileOrder, VisitsEveryTileOnce) {
  for (const int rows : {1, 2, 7, 8, 9, 17}) {
    for (const int cols : {1, 3, 16}) {
      for (const int group : {1, 4, 8, 100}) {
        const tw::detail::tile_order order{rows, cols, 2, group};
        const tw::detail::fast_tile_order fast(order);
        std::set<std::tuple<int, int, int>> seen;
        for (int i = 0; i < order.num_tiles(); ++i) {
          const tw::detail::tile_coord p = order(i);
          ASSERT_EQ(fast(i), p);
          ASSERT_TRUE(0 <= p.row && p.row < rows && 0 <= p.col && p.col < cols && p.batch == i / (rows * cols));
          EXPECT_TRUE(seen.insert({p.row, p.col, p.batch}).second);
        }
        EXPECT_EQ(int(seen.size()), rows * cols * 2);
      }
    }
  }
}

TEST(TileOrder, GroupsGoBackAndForth) {
  const tw::detail::tile_order order{4, 3, 1, 2};
  EXPECT_EQ(order(0), (tw::detail::tile_coord{0, 0, 0}));
  EXPECT_EQ(order(1), (tw::detail::tile_coord{1, 0, 0}));
  EXPECT_EQ(order(5), (tw::detail::tile_coord{1, 2, 0}));
  EXPECT_EQ(order(6), (tw::detail::tile_coord{2, 2, 0}));
  EXPECT_EQ(order(11), (tw::detail::tile_coord{3, 0, 0}));
}

// Tiles that are computed at the same time form nearly a square.
TEST(TileOrder, NeighboursShareOperands) {
  const tw::detail::tile_order order{64, 64, 1, 8};
  for (int begin = 0; begin + 64 <= order.num_tiles(); begin += 64) {
    std::set<int> rows, cols;
    for (int i = begin; i < begin + 64; ++i) {
      rows.insert(order(i).row);
      cols.insert(order(i).col);
    }
    EXPECT_EQ(rows.size() + cols.size(), 16u);
  }
}

}  // namespace
