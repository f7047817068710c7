// SPDX-License-Identifier: MIT
// One lower dimension from several upper ones with strides.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using embed = rules_of<transform_kind::embed>;

TEST(Embed, SumsIndicesTimesStrides) {
  const embed e{{3, 4, 5, 100, -7, 1, 0, 1}, 1, 3};
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 4; ++j) {
      for (index_t k = 0; k < 5; ++k) EXPECT_EQ(e.lower({i, j, k}), indices{100 * i - 7 * j + k});
    }
  }
  EXPECT_EQ(e.upper_lengths(), (indices{3, 4, 5}));
  EXPECT_EQ(e.lower_lengths(), indices{-1}) << "any length fits";
}

// The run along the dimension of stride 1 is what all other strides, its own length and the lower run have in common.
TEST(Embed, Run) {
  EXPECT_EQ((embed{{8, 64, 64, 1, 0, 0}, 1, 2}.run({1 << 20})), (indices{1, 64}));
  EXPECT_EQ((embed{{8, 64, 72, 1, 0, 0}, 1, 2}.run({1 << 20})), (indices{1, 8}));
  EXPECT_EQ((embed{{8, 48, 64, 1, 0, 0}, 1, 2}.run({1 << 20})), (indices{1, 16}));
  EXPECT_EQ((embed{{8, 64, 64, 1, 0, 0}, 1, 2}.run({4})), (indices{1, 4}));
  EXPECT_EQ((embed{{8, 64, 64, 1, 0, 4}, 1, 2}.run({1 << 20})), (indices{1, 4})) << "no longer than guaranteed";
  EXPECT_EQ((embed{{64, 8, 1, 64, 0, 0}, 1, 2}.run({1 << 20})), (indices{64, 1})) << "column-major";
  EXPECT_EQ((embed{{8, 64, 64, 2, 0, 0}, 1, 2}.run({1 << 20})), (indices{1, 1})) << "nothing has stride 1";
  EXPECT_EQ((embed{{1, 64, 63, 1, 0, 0}, 1, 2}.run({1 << 20})), (indices{1, 64})) << "a stride that is never taken";
}

TEST(Embed, RunOfRunTimeStridesIsWhatWasPromised) {
  EXPECT_EQ((embed{{dynamic, dynamic, dynamic, 1, 0, 8}, 1, 2}.run({1 << 20})), (indices{1, 8}));
  EXPECT_EQ((embed{{dynamic, dynamic, dynamic, 1, 0, 1}, 1, 2}.run({1 << 20})), (indices{1, 1}));
  EXPECT_EQ((embed{{dynamic, 12, 64, 1, 0, 8}, 1, 2}.run({1 << 20})), (indices{1, 4})) << "static values count in full";
}

TEST(Embed, IsF2LinearWhenIndicesOwnDifferentBits) {
  EXPECT_TRUE((embed{{8, 64, 64, 1, 0, 1}, 1, 2}.f2_linear()));
  EXPECT_TRUE((embed{{8, 64, 128, 1, 0, 1}, 1, 2}.f2_linear()));
  EXPECT_TRUE((embed{{8, 1, 64, 63, 0, 1}, 1, 2}.f2_linear()));
  EXPECT_FALSE((embed{{8, 64, 32, 1, 0, 1}, 1, 2}.f2_linear())) << "bits overlap";
  EXPECT_FALSE((embed{{8, 64, 72, 1, 0, 1}, 1, 2}.f2_linear())) << "padded";
  EXPECT_FALSE((embed{{6, 64, 64, 1, 0, 1}, 1, 2}.f2_linear()));
  EXPECT_FALSE((embed{{8, dynamic, 64, 1, 0, 1}, 1, 2}.f2_linear()));
}

TEST(Embed, IsMadeFromLengthsStridesAndPromise) {
  EXPECT_TRUE(is_made_of(make_embed_transform(make_tuple(3, number<4>{}), make_tuple(number<4>{}, number<1>{})),
                         transform_kind::embed, 1, 2, {dynamic, 4, 4, 1, 0, 0}, {3}));
  EXPECT_TRUE(is_made_of(make_embed_transform(make_tuple(3, 4), make_tuple(8, 2), number<2>{}), transform_kind::embed,
                         1, 2, {dynamic, dynamic, dynamic, dynamic, 0, 2}, {3, 4, 8, 2}));
}

TEST(Embed, AddsAConstant) {
  const embed e{{3, 4, 8, 1, 100, 1}, 1, 2};
  EXPECT_EQ(e.lower({2, 3}), indices{119});
  EXPECT_TRUE(e.has_constant_term());
  EXPECT_FALSE(e.f2_linear());
  EXPECT_FALSE((embed{{3, 4, 8, 1, 0, 1}, 1, 2}.has_constant_term()));
  EXPECT_EQ((embed{{8, 64, 64, 1, 4, 0}, 1, 2}.run({1 << 20})), (indices{1, 4}));
  EXPECT_EQ((embed{{8, 64, 64, 1, dynamic, 16}, 1, 2}.run({1 << 20})), (indices{1, 16}));
}

TEST(Embed, ReachesItsLastElement) {
  EXPECT_EQ((embed{{3, 4, 8, 1, 5, 1}, 1, 2}.least_lower_length()), 2 * 8 + 3 + 5 + 1);
  EXPECT_EQ((embed{{3, 4, 8, -1, 5, 1}, 1, 2}.least_lower_length()), 2 * 8 + 5 + 1);
  EXPECT_EQ((embed{{dynamic, 4, 8, 1, 5, 1}, 1, 2}.least_lower_length()), 0);
  EXPECT_EQ((embed{{3, 4, dynamic, 1, 5, 1}, 1, 2}.least_lower_length()), 0);
  EXPECT_EQ((embed{{3, 4, 8, dynamic, 5, 1}, 1, 2}.least_lower_length()), 0);
  EXPECT_EQ((embed{{3, 4, 8, 1, dynamic, 1}, 1, 2}.least_lower_length()), 0);
  EXPECT_TRUE((embed{{1 << 15, 1 << 16, 1 << 16, 1, 0, 1}, 1, 2}.fits()));
  EXPECT_FALSE((embed{{1 << 15, 1 << 16, 1 << 16, 1, 1, 1}, 1, 2}.fits()));
  EXPECT_FALSE((embed{
      {2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 0, 1}, 1, 4}
                    .fits()));
}

}  // namespace
}  // namespace tilewright
