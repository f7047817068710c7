// SPDX-License-Identifier: MIT
// Every order of the grid computes every tile once, and every die its own contiguous part of the curve.
#include <tilewright/block/schedule/grid_order.hpp>

#include <gtest/gtest.h>

#include <tilewright/core/arch/arch.hpp>
#include <vector>

namespace tilewright {
namespace {

TEST(GridOrder, VisitsEveryTileOnce) {
  for (const grid_curve curve : {grid_curve::rows, grid_curve::row_groups, grid_curve::hilbert}) {
    for (const index_t dies : {1, 3, 8}) {
      for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 20}, {7, 3}, {16, 16}, {9, 31}, {40, 5}}) {
        const grid_order order{.curve = curve, .group_rows = 4, .dies = dies};
        std::vector<int> visits(std::size_t(rows * cols));
        for (index_t b = 0; b < rows * cols; ++b) {
          const multi_index<2> tile = order.tile_of(b, rows, cols);
          ASSERT_TRUE(0 <= tile[0] && tile[0] < rows && 0 <= tile[1] && tile[1] < cols);
          ++visits[std::size_t(tile[0] * cols + tile[1])];
        }
        for (const int n : visits) EXPECT_EQ(n, 1) << int(curve) << ", " << dies << " dies, " << rows << " x " << cols;
      }
    }
  }
}

TEST(GridOrder, EachDieWalksThroughNeighboursOnTheCurve) {
  const grid_order order{.dies = 8};
  for (const index_t blocks : {5, 8, 100, 1001}) {
    index_t expected = 0;
    for (index_t die = 0; die < 8; ++die) {
      for (index_t b = die; b < blocks; b += 8) EXPECT_EQ(order.index_on_curve(b, blocks), expected++);
    }
  }
}

TEST(GridOrder, KnowsTheDiesOfTargets) {
  static_assert(detail::default_grid_order<arch::gfx942>().dies == 8 &&
                detail::default_grid_order<arch::gfx950>().dies == 8);
  static_assert(detail::default_grid_order<arch::gfx90a>().dies == 1 &&
                detail::default_grid_order<arch::sm90>().dies == 1);
  static_assert(grid_order{.curve = grid_curve::rows}.tile_of(5, 2, 3) == multi_index<2>{{1, 2}});
}

}  // namespace
}  // namespace tilewright
