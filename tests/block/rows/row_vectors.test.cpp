// SPDX-License-Identifier: MIT
// Which columns of a row the lanes have.
#include <tilewright/block/rows/detail/row_vectors.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

template <index_t Size, index_t Lanes, index_t Count, index_t Run>
void expect_all_columns_once() {
  using row = detail::row_vectors<4, Size, Lanes, Count, Run, false>;
  std::vector<int> times(std::size_t(Lanes * Count * row::vector));
  for (index_t lane = 0; lane < Lanes; ++lane)
    for (index_t i = 0; i < Count; ++i)
      for (index_t e = 0; e < row::vector; ++e) {
        const index_t column = row::column(lane * Run * row::vector, i) + e;
        ASSERT_TRUE(column >= 0 && column < index_t(times.size())) << "lane " << lane << ", access " << i;
        ++times[std::size_t(column)];
      }
  EXPECT_EQ(times, std::vector<int>(times.size(), 1));
}

TEST(RowVectors, LanesShareTheColumns) {
  expect_all_columns_once<16, 32, 3, 1>();
  expect_all_columns_once<16, 64, 4, 2>();
  expect_all_columns_once<4, 8, 8, 4>();
}

}  // namespace
}  // namespace tilewright
