// SPDX-License-Identifier: MIT
// Groups of rows: the order on a small grid, against nested loops on many.
#include <tilewright/core/distribution/matrix_curves.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

std::vector<multi_index<2>> by_loops(const row_group_curve& order) {
  std::vector<multi_index<2>> tiles;
  bool backwards = false;
  for (index_t first = 0; first < order.rows; first += order.group_rows) {
    for (index_t step = 0; step < order.cols; ++step) {
      for (index_t row = first; row < order.rows && row < first + order.group_rows; ++row)
        tiles.push_back({{row, backwards ? order.cols - 1 - step : step}});
    }
    backwards = order.snake && !backwards;
  }
  return tiles;
}

TEST(RowGroupCurve, OfThreeRowsInGroupsOfTwo) {
  constexpr row_group_curve order{.rows = 3, .cols = 3, .group_rows = 2};
  static_assert(order.get_num_of_access() == 9);
  constexpr multi_index<2> expected[] = {{{0, 0}}, {{1, 0}}, {{0, 1}}, {{1, 1}}, {{0, 2}},
                                         {{1, 2}}, {{2, 0}}, {{2, 1}}, {{2, 2}}};
  for (index_t i = 0; i < 9; ++i) EXPECT_EQ(order.get_index(i), expected[i]) << i;
  static_assert(row_group_curve{3, 3, 2, /*snake=*/true}.get_index(6) == multi_index<2>{{2, 2}});
}

TEST(RowGroupCurve, IsOneTileByDefault) {
  static_assert(row_group_curve{}.get_num_of_access() == 1 && !row_group_curve{}.snake);
  static_assert(row_group_curve{.rows = 2, .cols = 2}.get_index(1) == multi_index<2>{{0, 1}}, "groups of one row");
}

TEST(RowGroupCurve, IsTheNestedLoops) {
  for (index_t rows = 1; rows <= 9; ++rows) {
    for (index_t cols = 1; cols <= 7; ++cols) {
      for (index_t group_rows = 1; group_rows <= 11; ++group_rows) {
        for (const bool snake : {false, true}) {
          const row_group_curve order{rows, cols, group_rows, snake};
          const auto expected = by_loops(order);
          ASSERT_EQ(std::size_t(order.get_num_of_access()), expected.size());
          for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(order.get_index(index_t(i)), expected[i]);
        }
      }
    }
  }
}

TEST(RowGroupCurve, OfTheLargestGrid) {
  const row_group_curve order{.rows = 32768, .cols = 65535, .group_rows = 1 << 30};
  EXPECT_EQ(order.get_index(order.get_num_of_access() - 1), (multi_index<2>{{32767, 65534}}));
}

}  // namespace
}  // namespace tilewright
