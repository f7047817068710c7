// SPDX-License-Identifier: MIT
// Lower indices from a table.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using indexing = rules_of<transform_kind::indexing>;

TEST(Indexing, LooksUp) {
  const indexing t{{3, 7, 0, 5}, 1, 1};
  EXPECT_EQ(t.lower({0}), indices{7});
  EXPECT_EQ(t.lower({1}), indices{0});
  EXPECT_EQ(t.lower({2}), indices{5});
  EXPECT_EQ(t.upper_lengths(), indices{3});
  EXPECT_EQ(t.lower_lengths(), indices{-1});
  EXPECT_EQ(t.run({16}), indices{1});
  EXPECT_FALSE(t.f2_linear());
  EXPECT_TRUE(t.has_constant_term());
}

TEST(Indexing, ANegativeIndexHasNoElement) {
  const indexing t{{3, 7, -1, 0}, 1, 1};
  EXPECT_TRUE(t.is_valid({0}));
  EXPECT_FALSE(t.is_valid({1}));
  EXPECT_TRUE(t.is_valid({2}));
  EXPECT_FALSE(t.is_valid({3})) << "nor has one beyond the table";
  EXPECT_FALSE(t.is_valid({-1}));
}

TEST(Indexing, ReachesItsLargestStaticIndex) {
  EXPECT_EQ((indexing{{3, 7, -1, 0}, 1, 1}.least_lower_length()), 8);
  EXPECT_EQ((indexing{{2, dynamic, 4}, 1, 1}.least_lower_length()), 5);
  EXPECT_EQ((indexing{{1, dynamic}, 1, 1}.least_lower_length()), 0);
}

TEST(Indexing, IsMadeFromIndices) {
  EXPECT_TRUE(is_made_of(make_indexing_transform(number<3>{}, make_tuple(number<4>{}, 2, number<0>{})),
                         transform_kind::indexing, 1, 1, {3, 4, dynamic, 0}, {2}));
  EXPECT_TRUE(is_made_of(make_indexing_transform(number<2>{}, multi_index<2>{{4, 2}}), transform_kind::indexing, 1, 1,
                         {2, dynamic, dynamic}, {4, 2}));
}

}  // namespace
}  // namespace tilewright
