// SPDX-License-Identifier: MIT
// A part of a dimension.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using slice = rules_of<transform_kind::slice>;

TEST(Slice, BeginsAtItsFirstIndex) {
  const slice s{{20, 3, 11}, 1, 1};
  EXPECT_EQ(s.lower({0}), indices{3});
  EXPECT_EQ(s.lower({7}), indices{10});
  EXPECT_EQ(s.upper_lengths(), indices{8});
  EXPECT_EQ(s.lower_lengths(), indices{20});
  EXPECT_TRUE(s.is_valid({7}));
}

TEST(Slice, LengthIsUnknownWhenAnEndIs) {
  EXPECT_EQ((slice{{20, dynamic, 11}, 1, 1}.upper_lengths()), indices{dynamic});
  EXPECT_EQ((slice{{20, 3, dynamic}, 1, 1}.upper_lengths()), indices{dynamic});
  EXPECT_EQ((slice{{dynamic, 3, 11}, 1, 1}.upper_lengths()), indices{8});
}

TEST(Slice, RunDividesBeginAndEnd) {
  EXPECT_EQ((slice{{64, 8, 56}, 1, 1}.run({16})), indices{8});
  EXPECT_EQ((slice{{64, 16, 36}, 1, 1}.run({16})), indices{4});
  EXPECT_EQ((slice{{64, 0, 64}, 1, 1}.run({16})), indices{16});
  EXPECT_EQ((slice{{dynamic, 0, 32}, 1, 1}.run({16})), indices{16});
  EXPECT_EQ((slice{{64, dynamic, 32}, 1, 1}.run({16})), indices{1});
  EXPECT_EQ((slice{{64, 0, dynamic}, 1, 1}.run({16})), indices{1});
}

TEST(Slice, FromZeroOnHasNoConstantTerm) {
  EXPECT_TRUE((slice{{64, 0, 32}, 1, 1}.f2_linear()));
  EXPECT_FALSE((slice{{64, 0, 32}, 1, 1}.has_constant_term()));
  EXPECT_FALSE((slice{{64, 32, 64}, 1, 1}.f2_linear()));
  EXPECT_TRUE((slice{{64, 32, 64}, 1, 1}.has_constant_term()));
}

TEST(Slice, IsMadeFromLengthBeginAndEnd) {
  EXPECT_TRUE(is_made_of(make_slice_transform(number<20>{}, 3, number<11>{}), transform_kind::slice, 1, 1,
                         {20, dynamic, 11}, {3}));
  EXPECT_TRUE(is_made_of(make_slice_transform(20, number<3>{}, number<11>{}), transform_kind::slice, 1, 1,
                         {dynamic, 3, 11}, {20}));
  EXPECT_TRUE(is_made_of(make_slice_transform(number<20>{}, number<0>{}, number<20>{}), transform_kind::slice, 1, 1,
                         {20, 0, 20}, {}));
}

}  // namespace
}  // namespace tilewright
