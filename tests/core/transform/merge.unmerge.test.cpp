// SPDX-License-Identifier: MIT
// One lower dimension as several.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using unmerge = rules_of<transform_kind::unmerge>;

TEST(Unmerge, IsTheRowMajorLinearIndex) {
  const unmerge u{{3, 4, 5}, 1, 3};
  index_t next = 0;
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 4; ++j) {
      for (index_t k = 0; k < 5; ++k) EXPECT_EQ(u.lower({i, j, k}), indices{next++});
    }
  }
  EXPECT_EQ(u.upper_lengths(), (indices{3, 4, 5}));
  EXPECT_EQ(u.lower_lengths(), indices{60});
}

TEST(Unmerge, UndoesMerge) {
  const unmerge u{{3, 4, 5}, 1, 3};
  const rules_of<transform_kind::merge> m{{3, 4, 5}, 3, 1};
  for (index_t i = 0; i < 60; ++i) EXPECT_EQ(u.lower(m.lower({i})), indices{i});
}

TEST(Unmerge, LengthIsUnknownWhenAFactorIs) {
  EXPECT_EQ((unmerge{{4, dynamic}, 1, 2}.lower_lengths()), indices{dynamic});
}

TEST(Unmerge, Run) {
  EXPECT_EQ((unmerge{{3, 16}, 1, 2}.run({1 << 20})), (indices{1, 16}));
  EXPECT_EQ((unmerge{{3, 12}, 1, 2}.run({8})), (indices{1, 4}));
  EXPECT_EQ((unmerge{{3, dynamic}, 1, 2}.run({8})), (indices{1, 1}));
  EXPECT_EQ((unmerge{{dynamic, 16}, 1, 2}.run({8})), (indices{1, 8}));
  EXPECT_EQ((unmerge{{12}, 1, 1}.run({8})), indices{4}) << "a vector does not leave the tensor";
  EXPECT_EQ((unmerge{{dynamic}, 1, 1}.run({8})), indices{1});
}

TEST(Unmerge, IsF2LinearUnlessALengthAfterTheFirstIsOdd) {
  EXPECT_TRUE((unmerge{{3, 16, 2}, 1, 3}.f2_linear()));
  EXPECT_FALSE((unmerge{{4, 12}, 1, 2}.f2_linear()));
  EXPECT_FALSE((unmerge{{4, dynamic}, 1, 2}.f2_linear()));
}

TEST(Unmerge, IsMadeFromItsLengths) {
  EXPECT_TRUE(
      is_made_of(make_unmerge_transform(make_tuple(3, number<4>{})), transform_kind::unmerge, 1, 2, {dynamic, 4}, {3}));
}

TEST(Unmerge, ReachesTheProductOfItsLengths) {
  using rules = rules_of<transform_kind::unmerge>;
  EXPECT_EQ((rules{{3, 4}, 1, 2}.least_lower_length()), 12);
  EXPECT_EQ((rules{{3, dynamic}, 1, 2}.least_lower_length()), 0);
  EXPECT_TRUE((rules{{1 << 16, 1 << 15}, 1, 2}.fits())) << "the last offset is one less";
  EXPECT_FALSE((rules{{1 << 16, (1 << 15) + 1}, 1, 2}.fits()));
  EXPECT_FALSE((rules{{3, 715827883}, 1, 2}.fits())) << "2^31 + 1";
  EXPECT_FALSE((rules{{1 << 30, 1 << 30, 1 << 30, 1 << 30}, 1, 4}.fits()));
}

}  // namespace
}  // namespace tilewright
