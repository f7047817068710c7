// SPDX-License-Identifier: MIT
// Hilbert's curve: its shape on a square, and what it guarantees on every small rectangle.
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/distribution/matrix_curves.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace tilewright {
namespace {

TEST(HilbertCurve, OfFourByFour) {
  constexpr hilbert_curve order{.rows = 4, .cols = 4};
  constexpr multi_index<2> expected[] = {{{0, 0}}, {{0, 1}}, {{1, 1}}, {{1, 0}}, {{2, 0}}, {{3, 0}},
                                         {{3, 1}}, {{2, 1}}, {{2, 2}}, {{3, 2}}, {{3, 3}}, {{2, 3}},
                                         {{1, 3}}, {{1, 2}}, {{0, 2}}, {{0, 3}}};
  static_assert(order.get_num_of_access() == 16 && order.get_index(5) == expected[5]);
  for (index_t i = 0; i < 16; ++i) EXPECT_EQ(order.get_index(i), expected[i]) << i;
}

TEST(HilbertCurve, IsOneTileByDefault) {
  static_assert(hilbert_curve{}.get_num_of_access() == 1 && hilbert_curve{}.get_index(0) == multi_index<2>{{0, 0}});
}

TEST(HilbertCurve, VisitsEachTileOfAnyRectangleStepByStep) {
  for (index_t rows = 1; rows <= 34; ++rows) {
    for (index_t cols = 1; cols <= 34; ++cols) {
      const hilbert_curve order{rows, cols};
      std::vector<int> visits(std::size_t(rows * cols));
      index_t diagonal_steps = 0;
      multi_index<2> last = order.get_index(0);
      ASSERT_EQ(last, (multi_index<2>{{0, 0}}));
      for (index_t i = 0; i < order.get_num_of_access(); ++i) {
        const multi_index<2> tile = order.get_index(i);
        ASSERT_TRUE(0 <= tile[0] && tile[0] < rows && 0 <= tile[1] && tile[1] < cols) << rows << " x " << cols;
        ++visits[std::size_t(tile[0] * cols + tile[1])];
        const index_t down = std::abs(tile[0] - last[0]), right = std::abs(tile[1] - last[1]);
        ASSERT_LE(max(down, right), 1) << rows << " x " << cols << ", tile " << i;
        diagonal_steps += down + right == 2;
        last = tile;
      }
      for (const int n : visits) ASSERT_EQ(n, 1) << rows << " x " << cols;
      const index_t longer = max(rows, cols), shorter = min(rows, cols);
      EXPECT_EQ(diagonal_steps, longer % 2 == 1 && shorter % 2 == 0 && shorter > 2 ? 1 : 0) << rows << " x " << cols;
    }
  }
}

// 64 consecutive tiles of a large square stay within a few rows and columns: that is what the curve is for.
TEST(HilbertCurve, KeepsNeighboursInTimeTogether) {
  constexpr hilbert_curve order{.rows = 64, .cols = 64};
  for (index_t first = 0; first < order.get_num_of_access(); first += 64) {
    multi_index<2> low = order.get_index(first), high = low;
    for (index_t i = first; i < first + 64; ++i) {
      for (index_t d = 0; d < 2; ++d) {
        low[d] = min(low[d], order.get_index(i)[d]);
        high[d] = max(high[d], order.get_index(i)[d]);
      }
    }
    EXPECT_EQ(high[0] - low[0], 7);
    EXPECT_EQ(high[1] - low[1], 7);
  }
}

TEST(HilbertCurve, OfTheLargestGrid) {
  const hilbert_curve order{.rows = 32768, .cols = 65535};
  const multi_index<2> last = order.get_index(order.get_num_of_access() - 1);
  EXPECT_EQ(last, (multi_index<2>{{0, 65534}}));
  EXPECT_EQ(order.get_index(0), (multi_index<2>{{0, 0}}));
}

}  // namespace
}  // namespace tilewright
