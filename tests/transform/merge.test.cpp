// SPDX-License-Identifier: MIT
// Several lower dimensions as one.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using merge = rules_of<transform_kind::merge>;

TEST(Merge, CountsThroughTheLowerDimensionsWithTheLastOneFastest) {
  const merge m{{3, 4, 5}, 3, 1};
  index_t next = 0;
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 4; ++j) {
      for (index_t k = 0; k < 5; ++k) EXPECT_EQ(m.lower({next++}), (indices{i, j, k}));
    }
  }
  EXPECT_EQ(m.lower({60}), (indices{3, 0, 0})) << "past the end, only the first index leaves its length";
  EXPECT_EQ(m.upper_lengths(), indices{60});
  EXPECT_EQ(m.lower_lengths(), (indices{3, 4, 5}));
}

TEST(Merge, OfOneDimension) {
  const merge m{{8}, 1, 1};
  EXPECT_EQ(m.lower({5}), indices{5});
  EXPECT_EQ(m.upper_lengths(), indices{8});
  EXPECT_EQ(m.run({4}), indices{4});
}

TEST(Merge, LengthIsUnknownWhenAFactorIs) {
  EXPECT_EQ((merge{{dynamic, 4}, 2, 1}.upper_lengths()), indices{dynamic});
  EXPECT_EQ((merge{{4, dynamic}, 2, 1}.upper_lengths()), indices{dynamic});
}

TEST(Merge, Run) {
  EXPECT_EQ((merge{{3, 16}, 2, 1}.run({1, 16})), indices{16});
  EXPECT_EQ((merge{{3, 12}, 2, 1}.run({1, 8})), indices{4});
  EXPECT_EQ((merge{{3, 16}, 2, 1}.run({64, 1})), indices{1}) << "the first dimension's run is of no use";
  EXPECT_EQ((merge{{3, dynamic}, 2, 1}.run({1, 16})), indices{1});
}

TEST(Merge, IsF2LinearUnlessALengthAfterTheFirstIsOdd) {
  EXPECT_TRUE((merge{{3, 16, 2}, 3, 1}.f2_linear()));
  EXPECT_TRUE((merge{{dynamic, 16}, 2, 1}.f2_linear()));
  EXPECT_FALSE((merge{{4, 12}, 2, 1}.f2_linear()));
  EXPECT_FALSE((merge{{4, dynamic}, 2, 1}.f2_linear()));
}

TEST(Merge, IsMadeFromItsLengths) {
  EXPECT_TRUE(is_made_of(make_merge_transform_v3_division_mod(make_tuple(3, number<4>{}, 5)), transform_kind::merge, 3,
                         1, {dynamic, 4, dynamic}, {3, 5}));
}

}  // namespace
}  // namespace tilewright
