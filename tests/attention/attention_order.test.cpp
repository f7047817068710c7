// SPDX-License-Identifier: MIT
#include <tilewright/attention/attention_order.hpp>

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
          detail::make_attention_order(with_lengths(1000, 6, 2, 3, window), 128, bytes);
      ASSERT_EQ(order.num_units(), 8 * 18);
      for (const index_t blocks : {1, 7, 132, 200}) {
        std::set<std::tuple<index_t, index_t, index_t>> seen;
        for (index_t block = 0; block < blocks; ++block) {
          for (index_t round = 0; round * blocks < order.num_units(); ++round) {
            const index_t u = order.unit_of(block, blocks, round);
            if (u >= order.num_units()) continue;
            const detail::attention_unit unit = order(u);
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
      detail::make_attention_order(with_lengths(1000, 24, 8, 4, causal), 128, 5 << 20);
  EXPECT_EQ(order.group, 18);
  for (index_t u = 0; u < 18; ++u) EXPECT_EQ(order(u).row, 7);
  EXPECT_EQ(order(18).row, 6);
  EXPECT_EQ(order(18 * 8).row, 7);
  EXPECT_EQ(order(18 * 8).head, 18);
}

}  // namespace
}  // namespace tilewright
