// SPDX-License-Identifier: MIT
// A dimension fixed to one index.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Freeze, IsAlwaysTheSameIndex) {
  const rules_of<transform_kind::freeze> f{{5}, 1, 0};
  EXPECT_EQ(f.lower({}), indices{5});
  EXPECT_TRUE(f.upper_lengths().empty());
  EXPECT_EQ(f.lower_lengths(), indices{-1});
  EXPECT_TRUE(f.run({16}).empty());
  EXPECT_FALSE(f.f2_linear());
  EXPECT_TRUE((rules_of<transform_kind::freeze>{{0}, 1, 0}.f2_linear()));
}

TEST(Freeze, IsMadeFromItsIndex) {
  EXPECT_TRUE(is_made_of(make_freeze_transform(number<5>{}), transform_kind::freeze, 1, 0, {5}, {}));
  EXPECT_TRUE(is_made_of(make_freeze_transform(5), transform_kind::freeze, 1, 0, {dynamic}, {5}));
}

TEST(Freeze, ReachesItsIndex) {
  using rules = rules_of<transform_kind::freeze>;
  EXPECT_EQ((rules{{5}, 1, 0}.least_lower_length()), 6);
  EXPECT_EQ((rules{{dynamic}, 1, 0}.least_lower_length()), 0);
  EXPECT_TRUE((rules{{5}, 1, 0}.has_constant_term()));
  EXPECT_FALSE((rules{{0}, 1, 0}.has_constant_term()));
}

}  // namespace
}  // namespace tilewright
