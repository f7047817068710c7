// SPDX-License-Identifier: MIT
// lower = upper + a constant.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using offset = rules_of<transform_kind::offset>;

TEST(Offset, AddsAConstant) {
  const offset o{{6, 100}, 1, 1}, back{{6, -3}, 1, 1};
  for (index_t i = 0; i < 6; ++i) {
    EXPECT_EQ(o.lower({i}), indices{i + 100});
    EXPECT_EQ(back.lower({i}), indices{i - 3});
  }
  EXPECT_EQ(o.upper_lengths(), indices{6});
  EXPECT_EQ(o.lower_lengths(), indices{-1}) << "any length fits";
}

TEST(Offset, Run) {
  EXPECT_EQ((offset{{64, 24}, 1, 1}.run({16})), indices{8});
  EXPECT_EQ((offset{{64, -4}, 1, 1}.run({16})), indices{4});
  EXPECT_EQ((offset{{36, 8}, 1, 1}.run({16})), indices{4}) << "a vector does not leave the tensor";
  EXPECT_EQ((offset{{dynamic, 8}, 1, 1}.run({16})), indices{1});
  EXPECT_EQ((offset{{64, dynamic}, 1, 1}.run({16})), indices{1});
}

TEST(Offset, IsF2LinearOnlyWhenZero) {
  EXPECT_TRUE((offset{{6, 0}, 1, 1}.f2_linear()));
  EXPECT_FALSE((offset{{6, 8}, 1, 1}.f2_linear()));
}

TEST(Offset, IsMadeFromLengthAndOffset) {
  EXPECT_TRUE(is_made_of(make_offset_transform(number<6>{}, -3), transform_kind::offset, 1, 1, {6, dynamic}, {-3}));
}

TEST(Offset, ReachesTheOffsetOfItsLastIndex) {
  using rules = rules_of<transform_kind::offset>;
  EXPECT_EQ((rules{{5, 3}, 1, 1}.least_lower_length()), 8);
  EXPECT_EQ((rules{{5, dynamic}, 1, 1}.least_lower_length()), 0);
  EXPECT_EQ((rules{{dynamic, 3}, 1, 1}.least_lower_length()), 0);
  EXPECT_TRUE((rules{{5, 3}, 1, 1}.has_constant_term()));
  EXPECT_FALSE((rules{{5, 0}, 1, 1}.has_constant_term()));
}

}  // namespace
}  // namespace tilewright
