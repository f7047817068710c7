// SPDX-License-Identifier: MIT
// lower = upper.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

const rules_of<transform_kind::pass_through> seven{{7}, 1, 1};

TEST(PassThrough, ChangesNothing) {
  for (index_t i = -3; i < 10; ++i) EXPECT_EQ(seven.lower({i}), indices{i});
  EXPECT_EQ(seven.upper_lengths(), indices{7});
  EXPECT_EQ(seven.lower_lengths(), indices{7});
  EXPECT_TRUE(seven.is_valid({100}));
  EXPECT_EQ(seven.run({16}), indices{16});
  EXPECT_TRUE(seven.f2_linear());
}

TEST(PassThrough, IsMadeFromItsLength) {
  EXPECT_TRUE(is_made_of(make_pass_through_transform(number<7>{}), transform_kind::pass_through, 1, 1, {7}, {}));
  EXPECT_TRUE(is_made_of(make_pass_through_transform(7), transform_kind::pass_through, 1, 1, {dynamic}, {7}));
}

TEST(PassThrough, KeepsEveryIndex) {
  using rules = rules_of<transform_kind::pass_through>;
  EXPECT_TRUE((rules{{5}, 1, 1}.is_valid({4})));
  EXPECT_TRUE((rules{{5}, 1, 1}.fits()));
  EXPECT_FALSE((rules{{5}, 1, 1}.has_constant_term()));
  EXPECT_EQ((rules{{5}, 1, 1}.least_lower_length()), 0) << "its lower_length says it all";
}

}  // namespace
}  // namespace tilewright
