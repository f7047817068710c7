// SPDX-License-Identifier: MIT
// Distributions for copies by name: who holds what.
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/distribution/copy_distribution.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

/// Every element once, vectors of 16 bytes along dimension Contiguous, neighbouring lanes next to each other there.
template <index_t Contiguous, class T, class Distribution>
void expect_coalesced(Distribution distribution, index_t length) {
  constexpr index_t vector = 16 / sizeof(T);
  constexpr auto lengths = Distribution::get_lengths();
  std::vector<int> owners(std::size_t(lengths[0] * lengths[1]));
  for (index_t wave = 0; wave < Distribution::encoding.p_length(0); ++wave) {
    for (index_t lane = 0; lane < Distribution::encoding.p_length(1); ++lane) {
      const auto first = distribution.calculate_index({{wave, lane}});
      if ((lane + 1) * vector < length && lane + 1 < Distribution::encoding.p_length(1)) {
        EXPECT_EQ(distribution.calculate_index({{wave, lane + 1}})[Contiguous], first[Contiguous] + vector);
      }
      for (index_t d = 0; d < Distribution::num_elements; ++d) {
        multi_index<Distribution::ndim_y> y{};
        for (index_t i = Distribution::ndim_y, rest = d; i-- > 0; rest /= Distribution::get_y_length(i))
          y[i] = rest % Distribution::get_y_length(i);
        const auto step = distribution.y_to_x(y);
        if (d < vector) {
          EXPECT_EQ(step[Contiguous], d);
        }
        ++owners[std::size_t((first[0] + step[0]) * lengths[1] + first[1] + step[1])];
      }
    }
  }
  EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
}

TEST(MakeCopyDistribution, FollowsRows) {
  expect_coalesced<1, half_t>(make_copy_distribution<64, 64, half_t, 256>(), 64);
  expect_coalesced<1, float>(make_copy_distribution<32, 512, float, 128, 32>(), 512);
  expect_coalesced<1, int8_t>(make_copy_distribution<64, 32, int8_t, 64>(), 32);
}

// Rows of 72, 6 and 9 vectors: eight, two and one lanes next to each other.
TEST(MakeCopyDistribution, TakesRowsWhoseVectorsDoNotDivideTheLanes) {
  expect_coalesced<1, half_t>(make_copy_distribution<64, 576, half_t, 256>(), 64);
  expect_coalesced<1, float>(make_copy_distribution<256, 24, float, 256>(), 8);
  expect_coalesced<1, half_t>(make_copy_distribution<64, 72, half_t, 64, 32>(), 8);
  expect_coalesced<0, half_t>(make_column_copy_distribution<576, 64, half_t, 256>(), 64);
  static_assert(make_copy_distribution<64, 576, half_t, 256>().calculate_index({{1, 9}}) == multi_index<2>{9, 8});
}

TEST(MakeCopyDistribution, FollowsColumns) {
  expect_coalesced<0, half_t>(make_column_copy_distribution<64, 64, half_t, 256>(), 64);
  expect_coalesced<0, float>(make_column_copy_distribution<512, 32, float, 128, 32>(), 512);
}

TEST(MakeRowDistribution, SpreadsRowsOverTheBlock) {
  constexpr auto rows = make_row_distribution<3, 4096, half_t, 256>();
  expect_coalesced<1, half_t>(rows, 4096);
  static_assert(rows.calculate_index({{3, 0}}) == multi_index<2>{0, 3 * 64 * 8});
}

TEST(MakeCopyDistribution, IsThePatternOfTheWholeBlock) {
  using pattern = tile_distribution_encoding_pattern_2d<256, 64, 64, 8, tile_distribution_pattern::block_raked>;
  static_assert(make_copy_distribution<64, 64, half_t, 256>().encoding == pattern::value);
}

}  // namespace
}  // namespace tilewright
