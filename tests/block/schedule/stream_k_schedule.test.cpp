// SPDX-License-Identifier: MIT
#include <tilewright/block/schedule/stream_k_schedule.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace tw = tilewright;

namespace {

/// Costs in k tiles, where shares cross tiles if they can.
constexpr tw::detail::split_cost crossing{.crossing = 0.5};

TEST(StreamKSchedule, EveryKTileOfEveryTileIsDoneOnce) {
  for (const int rows : {1, 3, 12, 16}) {
    for (const int cols : {1, 12, 43}) {
      for (const int k_tiles : {1, 2, 31, 47, 128}) {
        for (const int workers : {1, 33, 66, 132}) {
          tw::stream_k_schedule s = tw::detail::make_stream_k_schedule({rows, cols, 2, 8}, k_tiles, workers,
                                                                       2 * workers, {.crossing = rows == 3 ? 0.5 : 2});
          if (workers == 1) s.splits = std::min(k_tiles, 3);
          std::vector<int> done(std::size_t(rows * cols * 2 * k_tiles));
          for (int u = 0; u < s.num_work_tiles(); ++u) {
            const tw::detail::work_tile unit = s(u);
            ASSERT_LE(unit.k_begin, unit.k_end);
            ASSERT_TRUE(unit.tile.batch >= 0 && unit.tile.batch < 2 && unit.tile.row >= 0 && unit.tile.row < rows &&
                        unit.tile.col >= 0 && unit.tile.col < cols)
                << "unit " << u << ", empty: " << unit.is_empty();
            for (int k = unit.k_begin; k < unit.k_end; ++k)
              ++done[std::size_t(((unit.tile.batch * rows + unit.tile.row) * cols + unit.tile.col) * k_tiles + k)];
          }
          for (const int times : done) ASSERT_EQ(times, 1);
          int written = 0;
          for (int u = 0; u < s.num_work_tiles(); ++u) written += !s(u).is_empty() && s(u).is_last_split();
          ASSERT_EQ(written, s.splits > 1 ? 0 : rows * cols * 2) << "another kernel writes the sum of equal parts";
        }
      }
    }
  }
}

// Whoever adds the parts up waits for others: they belong to workers with lower numbers. A worker waits last of all.
TEST(StreamKSchedule, TheLastPartWaitsForLowerNumbersOnly) {
  for (int tiles = 1; tiles < 300; ++tiles) {
    const int workers = 66, max_slots = 60 + tiles % 70;
    const tw::stream_k_schedule s = tw::detail::make_stream_k_schedule({1, tiles, 1, 1}, 64, workers, max_slots,
                                                                       {.crossing = tiles % 2 == 0 ? 0.5 : 2});
    EXPECT_LE(s.split_workers, workers);
    EXPECT_EQ(s.split_workers > 0 ? s.whole_tiles % workers : 0, 0);
    std::set<int> slots, have_waited;
    std::map<int, std::map<int, std::pair<int, int>>> parts;  // of each split tile: worker and slot
    for (int u = s.whole_tiles; u < s.num_work_tiles(); ++u) {
      const tw::detail::work_tile unit = s(u);
      if (unit.is_empty()) continue;
      const int worker = (u - s.whole_tiles) % workers;
      EXPECT_LE(unit.splits, s.max_splits());
      EXPECT_EQ(unit.tile, s.order(s.whole_tiles + unit.split_tile));
      EXPECT_TRUE(parts[unit.split_tile].emplace(unit.split, std::pair{worker, unit.slot}).second);
      EXPECT_FALSE(have_waited.contains(worker)) << "others wait for what a worker does before it waits";
      if (unit.is_last_split()) {
        have_waited.insert(worker);
      } else {
        EXPECT_TRUE(unit.slot < max_slots && slots.insert(unit.slot).second) << "a part has a slot of its own";
      }
    }
    for (const auto& [tile, of_tile] : parts) {
      const auto [last, last_slot] = of_tile.rbegin()->second;
      for (const auto& [part, where] : of_tile) {
        EXPECT_TRUE(where.first < last || part + 1 == int(of_tile.size()));
        EXPECT_EQ(where.second, last_slot - (int(of_tile.size()) - 1 - part));
      }
    }
  }
}

TEST(StreamKSchedule, SplitsOnlyWhereItPays) {
  const auto main_splits = [](int tiles, int k_tiles) {
    return tw::detail::make_stream_k_schedule({1, tiles, 1, 8}, k_tiles, 66, 132).main_splits;
  };
  EXPECT_EQ(main_splits(3 * 66 + 58, 64), 0);  // 58 of 66 workers are busy in the last round
  EXPECT_EQ(main_splits(2 * 66 + 12, 47), 3);  // four parts of each of 12 tiles
  EXPECT_EQ(main_splits(38, 250), 1);          // 19 workers have two heads each
  EXPECT_EQ(main_splits(3, 600), 14);          // few tiles and a very long k
  EXPECT_EQ(main_splits(2 * 66 + 12, 8), 0);   // k is short
  EXPECT_EQ(main_splits(2 * 66, 47), 0);       // whole rounds
}

// Workers that have the same part of different tiles go through the same k; helpers take no longer than others.
TEST(StreamKSchedule, NeighboursMultiplyTheSameK) {
  for (const int tiles : {14, 38, 58, 72}) {
    const tw::stream_k_schedule s = tw::detail::make_stream_k_schedule({1, 132 + tiles, 1, 8}, 250, 132, 264);
    ASSERT_GT(s.main_splits, 0) << tiles;
    std::map<int, std::set<std::pair<int, int>>> k_of_part;
    std::vector<int> k_tiles(132), units(132);
    for (int u = 132; u < s.num_work_tiles(); ++u) {
      const tw::detail::work_tile unit = s(u);
      if (unit.is_empty()) continue;
      k_of_part[unit.split].insert({unit.k_begin, unit.k_end});
      k_tiles[std::size_t(u % 132)] += unit.k_end - unit.k_begin;
      ++units[std::size_t(u % 132)];
    }
    EXPECT_EQ(int(k_of_part.size()), s.main_splits + 1);
    for (const auto& [part, ks] : k_of_part) EXPECT_EQ(ks.size(), 1u) << part;
    for (std::size_t worker = 0; worker < 132; ++worker)
      EXPECT_LE(k_tiles[worker] + (units[worker] - 1) * 6, s.longest_range()) << worker;
  }
}

// Numbers of 32 bits are enough for what is split.
TEST(StreamKSchedule, LongSumsAreSplitWhileTheirNumbersFit) {
  const tw::index_t longest = 0x7fffffff / 66 / 34 + 4;
  const tw::stream_k_schedule s = tw::detail::make_stream_k_schedule({1, 34, 1, 8}, longest, 66, 132, crossing);
  ASSERT_TRUE(s.ranges_cross_tiles());
  long long done = 0;
  for (int u = 0; u < s.num_work_tiles(); ++u) {
    EXPECT_LE(s(u).k_begin, s(u).k_end);
    EXPECT_LE(s(u).k_end, longest);
    done += s(u).k_end - s(u).k_begin;
  }
  EXPECT_EQ(done, 34ll * longest);
  EXPECT_EQ(tw::detail::make_stream_k_schedule({1, 34, 1, 8}, longest + 1, 66, 132, crossing).main_splits, 1);
}

TEST(StreamKSchedule, TheLastPartIsLonger) {
  const tw::stream_k_schedule s = tw::detail::make_stream_k_schedule({1, 12, 1, 8}, 47, 66, 132, {.wait = 6});
  ASSERT_EQ(s.main_splits, 3);
  EXPECT_EQ(s(0).k_end - s(0).k_begin, 10);
  EXPECT_EQ(s(47).k_end - s(47).k_begin, 16);
}

// 34 tiles of 128 among 66: each computes within a k tile of the same amount, but for what a last part has more.
TEST(StreamKSchedule, SharesAreEqual) {
  const tw::stream_k_schedule s = tw::detail::make_stream_k_schedule({1, 34, 1, 8}, 128, 66, 132, crossing);
  ASSERT_TRUE(s.ranges_cross_tiles());
  for (int worker = 0; worker < 66; ++worker) {
    int k_tiles = 0;
    for (int u = worker; u < s.num_work_tiles(); u += 66) {
      k_tiles += s(u).k_end - s(u).k_begin;
      if (!s(u).is_empty() && s(u).is_last_split()) k_tiles -= s.fixup_slack;
    }
    EXPECT_NEAR(k_tiles, 34.0 * (128 - s.fixup_slack) / 66, 1) << worker;
  }
}

}  // namespace
