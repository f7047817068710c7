// SPDX-License-Identifier: MIT
// Ranges of k tiles of stream-K without waiting blocks.
#include <tilewright/block/schedule/stream_k_ranges.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tilewright {
namespace {

std::vector<detail::stream_k_segment> segments_of(const stream_k_ranges& ranges, index_t block) {
  std::vector<detail::stream_k_segment> list;
  for (stream_k_ranges::range r = ranges.of_block(block); r.begin < r.end; r.begin += list.back().count)
    list.push_back(ranges.first_segment(r));
  return list;
}

/// Every k tile is computed once; the peers of a tile know their number, and their slots follow each other along k.
void expect_all_computed_once(const stream_k_ranges& ranges) {
  SCOPED_TRACE(std::to_string(ranges.tiles) + " tiles of " + std::to_string(ranges.k_tiles) + ", " +
               std::to_string(ranges.workers) + " workers on " + std::to_string(ranges.dies) + " dies");
  std::map<index_t, std::map<index_t, detail::stream_k_segment>> of_tile;  // by the first k tile
  std::set<index_t> slots;
  index_t fewest = ranges.k_tiles, most = 0;
  for (index_t b = 0; b < ranges.blocks(); ++b) {
    const std::vector<detail::stream_k_segment> segments = segments_of(ranges, b);
    EXPECT_LE(segments.size(), b < ranges.whole_tiles() ? 1u : 2u);
    index_t k_tiles = 0;
    for (const detail::stream_k_segment& s : segments) {
      ASSERT_GT(s.count, 0);
      k_tiles += s.count;
      of_tile[s.tile][s.first] = s;
      if (s.peers == 1) continue;
      EXPECT_TRUE(slots.insert(s.slot).second) << s.slot;
      EXPECT_LT(s.slot, ranges.slots());
      EXPECT_LT(s.shared_tile, ranges.shared_tiles());
    }
    if (b < ranges.whole_tiles()) continue;
    fewest = std::min(fewest, k_tiles), most = std::max(most, k_tiles);
  }
  EXPECT_LE(most, fewest + 1);  // workers have equal ranges
  ASSERT_EQ(index_t(of_tile.size()), ranges.tiles);
  for (const auto& [tile, segments] : of_tile) {
    index_t at = 0, slot = segments.begin()->second.slot;
    EXPECT_LT(tile, ranges.tiles);
    for (const auto& [first, s] : segments) {
      EXPECT_EQ(first, at);
      EXPECT_EQ(s.peers, index_t(segments.size()));
      if (s.peers > 1) {
        EXPECT_EQ(s.slot, slot++);
        EXPECT_EQ(s.first_slot, segments.begin()->second.slot);
        EXPECT_EQ(s.shared_tile, segments.begin()->second.shared_tile);
      }
      at += s.count;
    }
    EXPECT_EQ(at, ranges.k_tiles);
  }
}

TEST(StreamKRanges, EveryKTileOnce) {
  for (const index_t dies : {1, 8})
    for (const index_t workers : {1, 2, 5, 8, 24})
      for (index_t tiles = 1; tiles < 2 * workers + 3; ++tiles)
        for (const index_t k_tiles : {1, 2, 3, 7, 40})
          expect_all_computed_once({.tiles = tiles, .k_tiles = k_tiles, .workers = workers, .dies = dies});
}

TEST(StreamKRanges, LongK) {
  expect_all_computed_once({.tiles = 1023, .k_tiles = 2'000'000, .workers = 1024, .dies = 8});
}

TEST(StreamKRanges, FullRoundsShareNothing) {
  constexpr stream_k_ranges full{.tiles = 32, .k_tiles = 5, .workers = 16};
  static_assert(full.blocks() == 32 && full.slots() == 0);
  constexpr stream_k_ranges more{.tiles = 33, .k_tiles = 5, .workers = 16};
  static_assert(more.blocks() == 48 && more.slots() == 17);
}

// Blocks b, b + dies, ... run on one die: what they share of a tile is in its L2.
TEST(StreamKRanges, ADieHasConsecutiveRanges) {
  const stream_k_ranges ranges{.tiles = 20, .k_tiles = 12, .workers = 16, .dies = 8};
  for (index_t die = 0; die < 8; ++die) {
    const stream_k_ranges::range first = ranges.of_block(16 + die), second = ranges.of_block(24 + die);
    EXPECT_EQ(second.begin, first.end);
  }
}

}  // namespace
}  // namespace tilewright
