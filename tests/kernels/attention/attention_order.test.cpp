// SPDX-License-Identifier: MIT
#include <tilewright/kernels/attention/detail/attention_order.hpp>

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace tilewright {
namespace {

attention_args with_lengths(index_t queries, index_t heads, index_t kv_heads, index_t batch, attention_window window) {
  attention_args args;
  args.queries = queries;
  args.heads = heads;
  args.kv_heads = kv_heads;
  args.batch = batch;
  args.window = window;
  return args;
}

TEST(AttentionOrder, EveryUnitOnceForAnyNumberOfBlocks) {
  for (const attention_window window : {attention_window{}, causal, attention_window{7, 0}}) {
    for (const long_index_t bytes : {1 << 12, 5 << 20, 100 << 20}) {
      const detail::attention_order order =
          detail::make_attention_order(with_lengths(1000, 6, 2, 3, window), 128, bytes, 132);
      ASSERT_EQ(order.num_units(), 8 * 18);
      for (const index_t blocks : {1, 7, 132, 200}) {
        std::set<std::tuple<index_t, index_t, index_t>> seen;
        for (index_t block = 0; block < blocks; ++block) {
          for (index_t round = 0; round < order.num_rounds(blocks); ++round) {
            const detail::attention_unit unit = order(block, blocks, round);
            if (unit.row < 0) continue;
            EXPECT_TRUE(0 <= unit.row && unit.row < 8 && 0 <= unit.head && unit.head < 6 && 0 <= unit.batch &&
                        unit.batch < 3);
            EXPECT_TRUE(seen.emplace(unit.row, unit.head, unit.batch).second);
          }
        }
        EXPECT_EQ(index_t(seen.size()), order.num_units());
      }
    }
  }
}

// 5 MB of K and V: 6 key heads fit in 32 MB, and 3 query heads share each.
TEST(AttentionOrder, LongestRowsOfHeadsThatFitInTheCacheFirst) {
  const detail::attention_order order =
      detail::make_attention_order(with_lengths(2000, 24, 8, 4, causal), 128, 5 << 20, 132);
  EXPECT_EQ(order.group, 18);
  for (index_t block = 0; block < 18; ++block) EXPECT_EQ(order(block, 300, 0).row, 15);
  EXPECT_EQ(order(18, 300, 0).row, 14);
  EXPECT_EQ(order(290, 300, 0).row, -1);
  EXPECT_EQ(order(299, 300, 1).row, 15);
  EXPECT_EQ(order(299, 300, 1).head, 18);
}

// 4 tiles for each head: 33 heads are a round of 132 blocks.
TEST(AttentionOrder, ShortSequencesMixLongAndShortRows) {
  const detail::attention_order order =
      detail::make_attention_order(with_lengths(512, 16, 16, 32, causal), 128, 1 << 18, 132);
  EXPECT_EQ(order.group, 33);
}

// 16 heads of 128 tiles in groups of 4 for 132 blocks: a group is no whole number of rounds.
TEST(AttentionOrder, BlocksGetAboutAsManyKeys) {
  const detail::attention_order order =
      detail::make_attention_order(with_lengths(16384, 16, 16, 1, causal), 128, 8 << 20, 132);
  ASSERT_EQ(order.group, 4);
  index_t most = 0, all = 0;
  for (index_t block = 0; block < 132; ++block) {
    index_t keys = 0;
    for (index_t round = 0; round < order.num_rounds(132); ++round) keys += order(block, 132, round).row + 1;
    most = std::max(most, keys);
    all += keys;
  }
  EXPECT_EQ(all, 16 * 128 * 129 / 2);
  EXPECT_LT(most * 132, all * 1.02);
}

}  // namespace
}  // namespace tilewright
