// SPDX-License-Identifier: MIT
#include <tilewright/gemm/work_schedule.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tw = tilewright;

namespace {

TEST(WorkSchedule, EveryKTileOfEveryTileIsDoneOnce) {
  for (const int rows : {1, 3, 12, 16}) {
    for (const int cols : {1, 12, 43}) {
      for (const int k_tiles : {1, 2, 31, 47, 128}) {
        for (const int workers : {1, 33, 66, 132}) {
          const tw::work_schedule s = tw::make_work_schedule({rows, cols, 2, 8}, k_tiles, workers, 2 * workers);
          std::vector<int> done(std::size_t(rows * cols * 2 * k_tiles));
          for (int u = 0; u < s.num_units(); ++u) {
            const tw::work_unit unit = s(u);
            ASSERT_LT(unit.k_begin, unit.k_end);
            for (int k = unit.k_begin; k < unit.k_end; ++k)
              ++done[std::size_t(((unit.tile.batch * rows + unit.tile.row) * cols + unit.tile.col) * k_tiles + k)];
          }
          for (const int times : done) ASSERT_EQ(times, 1);
          int written = 0;
          for (int u = 0; u < s.num_units(); ++u) written += s(u).is_last_part();
          ASSERT_EQ(written, rows * cols * 2);
        }
      }
    }
  }
}

// Whoever adds the parts up waits for units with lower numbers: the last part comes last.
TEST(WorkSchedule, PartsOfATileFollowEachOther) {
  for (int tiles = 1; tiles < 300; ++tiles) {
    const int workers = 66, max_parts = 100;
    const tw::work_schedule s = tw::make_work_schedule({1, tiles, 1, 1}, 64, workers, max_parts);
    EXPECT_LE(s.num_split_tiles() * (s.parts - 1), max_parts);
    EXPECT_EQ(s.parts > 1 ? s.whole_tiles % workers : 0, 0);
    for (int u = s.whole_tiles; u < s.num_units(); ++u) {
      const tw::work_unit unit = s(u), first = s(u - unit.part);
      EXPECT_EQ(unit.parts, s.parts);
      EXPECT_EQ(first.part, 0);
      EXPECT_EQ(first.tile, unit.tile);
      EXPECT_EQ(first.split_tile, unit.split_tile);
    }
  }
}

TEST(WorkSchedule, SplitsOnlyWhereItPays) {
  const auto parts = [](int tiles, int k_tiles) {
    return tw::make_work_schedule({1, tiles, 1, 8}, k_tiles, 66, 132).parts;
  };
  EXPECT_EQ(parts(3 * 66 + 58, 64), 1);    // 58 of 66 workers are busy in the last round
  EXPECT_EQ(parts(2 * 66 + 12, 47), 4);    // 12 of 66
  EXPECT_EQ(parts(15 * 66 + 34, 128), 3);  // 34 tiles in two short rounds instead of one long
  EXPECT_EQ(parts(2 * 66 + 12, 8), 1);     // k is short
  EXPECT_EQ(parts(2 * 66, 47), 1);         // whole rounds
}

TEST(WorkSchedule, TheLastPartIsLonger) {
  const tw::work_schedule s = tw::make_work_schedule({1, 12, 1, 8}, 47, 66, 132);
  ASSERT_EQ(s.parts, 4);
  EXPECT_EQ(s(0).k_end - s(0).k_begin, 10);
  EXPECT_EQ(s(3).k_end - s(3).k_begin, 17);
}

}  // namespace
