// SPDX-License-Identifier: MIT
// The three patterns: which rows a wave and a lane get, and copies that cannot be divided.
#include "naive_distribution.hpp"

#include <tilewright/core/distribution/distribution_pattern.hpp>

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

using enum tile_distribution_pattern;
using naive::indices;

// 64 x 32 elements in vectors of 8: 4 lanes along a row, 16 rows at once per wave, 2 waves, so 2 rows for each lane.
constexpr tile_copy_2d copy{.rows = 64, .cols = 32, .vector = 8, .waves = 2, .wave_size = 64};

index_t row(tile_distribution_pattern pattern, index_t wave, index_t lane, index_t turn) {
  return naive::position(make_pattern_encoding(pattern, copy), {wave, lane}, {turn, 0})[0];
}

TEST(DistributionPattern, ThreadRakedLanesHaveNeighbouringRows) {
  for (index_t lane = 0; lane < 64; ++lane) {
    for (index_t turn = 0; turn < 2; ++turn) EXPECT_EQ(row(thread_raked, 1, lane, turn), 32 + lane / 4 * 2 + turn);
  }
}

TEST(DistributionPattern, WarpRakedWavesHaveNeighbouringRows) {
  for (index_t lane = 0; lane < 64; ++lane) {
    for (index_t turn = 0; turn < 2; ++turn) EXPECT_EQ(row(warp_raked, 1, lane, turn), 32 + turn * 16 + lane / 4);
  }
}

TEST(DistributionPattern, BlockRakedTurnsCoverTheRowsFromTopToBottom) {
  for (index_t lane = 0; lane < 64; ++lane) {
    for (index_t turn = 0; turn < 2; ++turn) EXPECT_EQ(row(block_raked, 1, lane, turn), turn * 32 + 16 + lane / 4);
  }
}

TEST(DistributionPattern, IsCkTilesEncoding) {
  using ck = tile_distribution_encoding<sequence<>, tuple<sequence<2, 16, 2>, sequence<4, 8>>,
                                        tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<0>, sequence<1, 0>>,
                                        sequence<1, 2>, sequence<2, 1>>;
  using pattern = tile_distribution_encoding_pattern_2d<128, 64, 32, 8, thread_raked>;
  static_assert(pattern::value == ck::value && pattern::value == make_pattern_encoding(thread_raked, copy));
  constexpr auto distribution = pattern::make_2d_static_tile_distribution();
  static_assert(distribution.num_threads() == 128 && distribution.get_lengths() == multi_index<2>{{64, 32}});
  constexpr auto shuffled = pattern::make_shuffled_2d_static_tile_distribution();
  static_assert(distribution.get_y_lengths() == multi_index<2>{{2, 8}} &&
                shuffled.get_y_lengths() == multi_index<2>{{8, 2}});
}

TEST(DistributionPattern, NarrowVectorsForSmallTiles) {
  constexpr tile_copy_2d small{.rows = 32, .cols = 8, .vector = 8, .waves = 2, .wave_size = 64};
  static_assert(divide_copy(small).vector == 2);
  EXPECT_EQ(naive::ownership_fault(make_pattern_encoding(block_raked, small)), "");
}

TEST(DistributionPattern, RowsWiderThanAWave) {
  constexpr tile_copy_2d wide{.rows = 2, .cols = 512, .vector = 4, .waves = 2, .wave_size = 32};
  constexpr distribution_encoding e = make_pattern_encoding(warp_raked, wide);
  static_assert(check_encoding(e).is_sound() && e.num_elements_per_thread() == 16);
  EXPECT_EQ(naive::position(e, {1, 3}, {0, 2, 1}), (indices{1, 2 * 128 + 3 * 4 + 1}));
}

TEST(DistributionPattern, GroupsOfWavesHoldTheWholeTile) {
  constexpr tile_copy_2d twice{.rows = 64, .cols = 32, .vector = 8, .waves = 4, .wave_size = 64, .wave_groups = 2};
  const distribution_encoding e = make_pattern_encoding(block_raked, twice);
  EXPECT_EQ(naive::ownership_fault(e), "");
  naive::each_index({2, 64, 2, 8}, [&](const indices& i) {
    const indices first = naive::position(e, {i[0], i[1]}, {i[2], i[3]});
    EXPECT_EQ(naive::position(e, {i[0] + 2, i[1]}, {i[2], i[3]}), first);
    EXPECT_EQ(naive::position(make_pattern_encoding(block_raked, copy), {i[0], i[1]}, {i[2], i[3]}), first);
  });
}

TEST(DistributionPattern, SaysWhatCannotBeDivided) {
  using enum detail::pattern_fault;
  const auto fault = [](tile_copy_2d c) { return divide_copy(c).fault; };
  EXPECT_EQ(fault(copy), none);
  EXPECT_EQ(fault({64, 32, 0, 2, 64}), not_positive);
  EXPECT_EQ(fault({64, 32, 8, 0, 64}), not_positive);
  EXPECT_EQ(fault({64, 32, 8, 3, 64, 2}), groups);
  EXPECT_EQ(fault({64, 36, 8, 2, 64}), vector);
  EXPECT_EQ(fault({64, 24, 8, 2, 64}), rows) << "3 vectors in a row: one lane for each row, 128 rows at once";
  EXPECT_EQ(fault({128, 24, 8, 2, 64}), none);
  EXPECT_EQ(fault({1, 384, 1, 1, 256}), rows) << "384 vectors in a row: 128 lanes for each row, two rows at once";
  EXPECT_EQ(divide_copy({64, 576, 8, 4, 64}).lanes_x, 8) << "72 vectors in a row";
  EXPECT_EQ(fault({48, 32, 8, 2, 64}), rows) << "32 rows at once";
}

}  // namespace
}  // namespace tilewright
