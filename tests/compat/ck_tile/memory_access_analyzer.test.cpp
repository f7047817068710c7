// SPDX-License-Identifier: MIT
// Cache lines of tile accesses: the documented tiles, copies that do and do not coalesce,
// and sets of lines by definition.
#include "../../core/distribution/copies.hpp"
#include "../../core/distribution/documented_tiles.hpp"
#include "../../core/distribution/naive_distribution.hpp"

#include <tilewright/compat/ck_tile/memory_access_analyzer.hpp>
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

// The page says 50 % for the second; one access moves at most 16 of 64 bytes.
TEST(MemoryAccessAnalyzer, OneAccessIsAQuarterOfACacheLine) {
  using simple = memory_access_analyzer<documented::simple_8x8>;
  using optimized = memory_access_analyzer<documented::optimized_vector>;
  static_assert(simple::bandwidth_utilization() == 25.0f && optimized::bandwidth_utilization() == 25.0f);
  static_assert(simple::total_transactions() == 4 && optimized::total_transactions() == 4);
  static_assert(memory_access_analyzer<documented::simple_8x8, float, 128>::bandwidth_utilization() == 12.5f);
}

TEST(MemoryAccessAnalyzer, TwoLanesUseHalfOfEachLine) {
  constexpr detail::memory_access_cost cost = memory_access_analyzer<documented::simple_8x8>::cost();
  static_assert(cost == detail::memory_access_cost{8, 8, 8, 8 * 32, 64} && cost.utilization() == 50.0f);
  static_assert(cost.is_perfectly_coalesced(), "one line is the fewest");
}

TEST(MemoryAccessAnalyzer, NothingIsUsedWell) {
  static_assert(detail::memory_access_cost{}.utilization() == 100.0f);
  static_assert(detail::memory_access_cost{1, 1, 1, 16, 64}.utilization() == 25.0f);
}

TEST(MemoryAccessAnalyzer, LanesAlongARowCoalesce) {
  using rows = memory_access_analyzer<tile_distribution<copies::along_rows(128, 32, 4, 64, 8)>, half_t>;
  static_assert(rows::is_perfectly_coalesced() && rows::is_perfectly_coalesced(4096));
  static_assert(rows::cost(4096) == detail::memory_access_cost{8, 8 * 16, 8 * 16, 8 * 1024, 64});
  static_assert(rows::cost(4096).utilization() == 100.0f);
  static_assert(!rows::is_perfectly_coalesced(4100), "rows begin in the middle of a line");
}

// The same tile, each lane on a row of its own: a whole line for 16 bytes,
// where the page's criterion sees nothing wrong.
TEST(MemoryAccessAnalyzer, LanesDownTheRowsDoNot) {
  using column =
      tile_distribution_encoding<sequence<>, tuple<sequence<4, 64>, sequence<8>>, tuple<sequence<1>, sequence<1>>,
                                 tuple<sequence<0>, sequence<1>>, sequence<2>, sequence<0>>;
  using apart = memory_access_analyzer<tile_distribution<column::value>, half_t>;
  static_assert(apart::traits::vector_dim_y == apart::traits::ndim_y - 1 && apart::traits::scalar_per_vector >= 4);
  static_assert(!apart::is_perfectly_coalesced(4096) && apart::cost(4096).lines == 4 * 64);
  static_assert(apart::cost(4096).utilization() == 25.0f);
  static_assert(apart::is_perfectly_coalesced(), "in a tensor as wide as the tile the rows adjoin");
}

TEST(MemoryAccessAnalyzer, ReplicasUseTheSameBytes) {
  using twice = tile_distribution_encoding<sequence<2>, tuple<sequence<16>, sequence<8>>, tuple<sequence<0, 1>>,
                                           tuple<sequence<0, 0>>, sequence<2>, sequence<0>>;
  static_assert(memory_access_analyzer<tile_distribution<twice::value>, half_t>::cost() ==
                detail::memory_access_cost{1, 4, 4, 256, 64});
}

TEST(CountTouchedLines, CountsBytesOnceAndLinesOnce) {
  const auto count = [](array<long_index_t, 4> addresses, index_t lanes, index_t bytes) {
    return detail::count_touched_lines(addresses, lanes, bytes, 64);
  };
  EXPECT_EQ(count({{0, 16, 32, 48}}, 4, 16), (detail::touched_lines{1, 64}));
  EXPECT_EQ(count({{48, 0, 32, 16}}, 4, 16), (detail::touched_lines{1, 64})) << "in any order";
  EXPECT_EQ(count({{0, 16, 32, 48}}, 2, 16), (detail::touched_lines{1, 32}));
  EXPECT_EQ(count({{0, 0, 8, 8}}, 4, 16), (detail::touched_lines{1, 24})) << "overlapping";
  EXPECT_EQ(count({{56, 56, 56, 56}}, 4, 16), (detail::touched_lines{2, 16})) << "across a line's end";
  EXPECT_EQ(count({{0, 64, 640, 128}}, 4, 4), (detail::touched_lines{4, 16}));
  EXPECT_EQ(count({{0, 1, 2, 3}}, 0, 4), (detail::touched_lines{0, 0}));
  EXPECT_EQ(count({{1ll << 40, 64 + (1ll << 40), 0, 0}}, 2, 64), (detail::touched_lines{2, 128}));
}

}  // namespace
}  // namespace tilewright
