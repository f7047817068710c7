// SPDX-License-Identifier: MIT
// Dimensions that memory does not have.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using replicate = rules_of<transform_kind::replicate>;

TEST(Replicate, HasNoLowerDimension) {
  const replicate r{{3, dynamic}, 0, 2};
  EXPECT_EQ(r.lower({2, 1}), indices{});
  EXPECT_EQ(r.upper_lengths(), (indices{3, dynamic}));
  EXPECT_EQ(r.lower_lengths(), indices{});
  EXPECT_EQ(r.run({}), (indices{1, 1}));
  EXPECT_TRUE(r.f2_linear());
  EXPECT_FALSE(r.has_constant_term());
}

TEST(Replicate, IsMadeFromItsLengths) {
  EXPECT_TRUE(is_made_of(make_replicate_transform(make_tuple(number<3>{}, 4)), transform_kind::replicate, 0, 2,
                         {3, dynamic}, {4}));
  EXPECT_TRUE(is_made_of(make_insert_transform(number<3>{}), transform_kind::replicate, 0, 1, {3}, {}));
  EXPECT_TRUE(is_made_of(make_insert_transform(3), transform_kind::replicate, 0, 1, {dynamic}, {3}));
}

}  // namespace
}  // namespace tilewright
