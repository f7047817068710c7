// SPDX-License-Identifier: MIT
// Dimensions that are longer than what exists in memory.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using pad = rules_of<transform_kind::pad>;

TEST(Pad, ShiftsByTheLeftPadAndKnowsWhatExists) {
  const pad p{{5, 2, 3}, 1, 1};
  EXPECT_EQ(p.upper_lengths(), indices{10});
  EXPECT_EQ(p.lower_lengths(), indices{5});
  for (index_t i = -2; i < 12; ++i) {
    EXPECT_EQ(p.lower({i}), indices{i - 2});
    EXPECT_EQ(p.is_valid({i}), 2 <= i && i < 7) << i;
  }
}

TEST(Pad, LengthIsUnknownWhenAPartIs) {
  EXPECT_EQ((pad{{dynamic, 2, 3}, 1, 1}.upper_lengths()), indices{dynamic});
  EXPECT_EQ((pad{{5, dynamic, 3}, 1, 1}.upper_lengths()), indices{dynamic});
  EXPECT_EQ((pad{{5, 2, dynamic}, 1, 1}.upper_lengths()), indices{dynamic});
}

// A vector is wholly inside or wholly outside: its length divides the left pad and the original length.
TEST(Pad, Run) {
  EXPECT_EQ((pad{{64, 0, 3}, 1, 1}.run({16})), indices{16});
  EXPECT_EQ((pad{{64, 8, 0}, 1, 1}.run({16})), indices{8});
  EXPECT_EQ((pad{{20, 0, 4}, 1, 1}.run({16})), indices{4});
  EXPECT_EQ((pad{{dynamic, 0, 4}, 1, 1}.run({8})), indices{8}) << "the lower run has a run-time length's guarantee";
  EXPECT_EQ((pad{{64, dynamic, 0}, 1, 1}.run({16})), indices{1});
}

TEST(Pad, IsF2LinearWithoutALeftPad) {
  EXPECT_TRUE((pad{{5, 0, 3}, 1, 1}.f2_linear()));
  EXPECT_FALSE((pad{{5, 2, 0}, 1, 1}.f2_linear()));
}

TEST(Pad, IsMadeFromLengthAndPads) {
  EXPECT_TRUE(
      is_made_of(make_pad_transform(5, number<2>{}, 3), transform_kind::pad, 1, 1, {dynamic, 2, dynamic}, {5, 3}));
  EXPECT_TRUE(is_made_of(make_left_pad_transform(number<5>{}, 2), transform_kind::pad, 1, 1, {5, dynamic, 0}, {2}));
  EXPECT_TRUE(is_made_of(make_right_pad_transform(5, number<2>{}), transform_kind::pad, 1, 1, {dynamic, 0, 2}, {5}));
}

TEST(Pad, KnowsWhenItsLengthIsTooLarge) {
  EXPECT_TRUE((pad{{2147483640, 3, 4}, 1, 1}.fits()));
  EXPECT_FALSE((pad{{2147483640, 4, 4}, 1, 1}.fits()));
}

TEST(Pad, HasAConstantTermWithALeftPad) {
  EXPECT_TRUE((pad{{5, 2, 0}, 1, 1}.has_constant_term()));
  EXPECT_FALSE((pad{{5, 0, 2}, 1, 1}.has_constant_term()));
}

}  // namespace
}  // namespace tilewright
