// SPDX-License-Identifier: MIT
#include <tilewright/gemm/work_schedule.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace tw = tilewright;

namespace {

TEST(WorkSchedule, EveryKTileOfEveryTileIsDoneOnce) {
  for (const int rows : {1, 3, 12, 16}) {
    for (const int cols : {1, 12, 43}) {
      for (const int k_tiles : {1, 2, 31, 47, 128}) {
        for (const int workers : {1, 33, 66, 132}) {
          tw::work_schedule s = tw::detail::make_work_schedule({rows, cols, 2, 8}, k_tiles, workers, 2 * workers);
          if (workers == 1) s.parts = std::min(k_tiles, 3);
          std::vector<int> done(std::size_t(rows * cols * 2 * k_tiles));
          for (int u = 0; u < s.num_units(); ++u) {
            const tw::detail::work_unit unit = s(u);
            ASSERT_LE(unit.k_begin, unit.k_end);
            for (int k = unit.k_begin; k < unit.k_end; ++k)
              ++done[std::size_t(((unit.tile.batch * rows + unit.tile.row) * cols + unit.tile.col) * k_tiles + k)];
          }
          for (const int times : done) ASSERT_EQ(times, 1);
          int written = 0;
          for (int u = 0; u < s.num_units(); ++u) written += !s(u).is_empty() && s(u).is_last_part();
          ASSERT_EQ(written, s.parts > 1 ? 0 : rows * cols * 2) << "another kernel writes the sum of equal parts";
        }
      }
    }
  }
}

// Whoever adds the parts up waits for others: they belong to workers with lower numbers, who begin with them.
TEST(WorkSchedule, TheLastPartWaitsForLowerNumbersOnly) {
  for (int tiles = 1; tiles < 300; ++tiles) {
    const int workers = 66, max_sharers = 60 + tiles % 20;
    const tw::work_schedule s = tw::detail::make_work_schedule({1, tiles, 1, 1}, 64, workers, max_sharers);
    EXPECT_LE(s.sharers, std::min(max_sharers, workers));
    EXPECT_EQ(s.sharers > 0 ? s.whole_tiles % workers : 0, 0);
    std::set<int> keep_a_part;
    std::map<int, std::map<int, int>> sharers;  // of the parts of a split tile
    for (int u = s.whole_tiles; u < s.num_units(); ++u) {
      const tw::detail::work_unit unit = s(u);
      if (unit.is_empty()) continue;
      EXPECT_EQ(unit.sharer, (u - s.whole_tiles) % workers);
      EXPECT_LE(unit.parts, s.max_parts());
      EXPECT_EQ(unit.tile, s.order(s.whole_tiles + unit.split_tile));
      EXPECT_TRUE(sharers[unit.split_tile].emplace(unit.part, unit.sharer).second);
      if (unit.is_last_part()) continue;
      EXPECT_LT(u, s.whole_tiles + workers) << "others wait for what a worker does first";
      EXPECT_TRUE(keep_a_part.insert(unit.sharer).second) << "there is memory for one part of each";
    }
    for (const auto& [tile, parts] : sharers) {
      for (const auto& [part, sharer] : parts) EXPECT_EQ(sharer, parts.at(0) + part);
    }
  }
}

TEST(WorkSchedule, SplitsOnlyWhereItPays) {
  const auto sharers = [](int tiles, int k_tiles) {
    return tw::detail::make_work_schedule({1, tiles, 1, 8}, k_tiles, 66, 132).sharers;
  };
  EXPECT_EQ(sharers(3 * 66 + 58, 64), 0);     // 58 of 66 workers are busy in the last round
  EXPECT_EQ(sharers(2 * 66 + 12, 47), 48);    // four for each of 12 tiles
  EXPECT_EQ(sharers(15 * 66 + 34, 128), 66);  // all: their shares are a bit longer than half a tile
  EXPECT_EQ(sharers(3, 600), 45);             // few tiles and a very long k: fifteen for each
  EXPECT_EQ(sharers(2 * 66 + 12, 8), 0);      // k is short
  EXPECT_EQ(sharers(2 * 66, 47), 0);          // whole rounds
}

// Numbers of 32 bits are enough for what is split.
TEST(WorkSchedule, LongSumsAreSplitWhileTheirNumbersFit) {
  const tw::index_t longest = 0x7fffffff / 66 / 34 + 4;
  const tw::work_schedule s = tw::detail::make_work_schedule({1, 34, 1, 8}, longest, 66, 132);
  ASSERT_EQ(s.sharers, 66);
  long long done = 0;
  for (int u = 0; u < s.num_units(); ++u) {
    EXPECT_LE(s(u).k_begin, s(u).k_end);
    EXPECT_LE(s(u).k_end, longest);
    done += s(u).k_end - s(u).k_begin;
  }
  EXPECT_EQ(done, 34ll * longest);
  EXPECT_EQ(tw::detail::make_work_schedule({1, 34, 1, 8}, longest + 1, 66, 132).sharers, 0);
}

TEST(WorkSchedule, TheLastPartIsLonger) {
  const tw::work_schedule s = tw::detail::make_work_schedule({1, 12, 1, 8}, 47, 66, 132, {.wait = 6});
  ASSERT_EQ(s.sharers, 48);
  EXPECT_EQ(s(0).k_end - s(0).k_begin, 10);
  EXPECT_EQ(s(3).k_end - s(3).k_begin, 17);
}

// 34 tiles of 128 among 66: each computes within a k tile of the same amount, but for what a last part has more.
TEST(WorkSchedule, SharesAreEqual) {
  const tw::work_schedule s = tw::detail::make_work_schedule({1, 34, 1, 8}, 128, 66, 132);
  ASSERT_TRUE(s.shares_cross_tiles());
  for (int worker = 0; worker < 66; ++worker) {
    int k_tiles = 0;
    for (int u = worker; u < s.num_units(); u += 66) {
      k_tiles += s(u).k_end - s(u).k_begin;
      if (!s(u).is_empty() && s(u).is_last_part()) k_tiles -= s.longer_by;
    }
    EXPECT_NEAR(k_tiles, 34.0 * (128 - s.longer_by) / 66, 1) << worker;
  }
}

}  // namespace
