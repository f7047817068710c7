// SPDX-License-Identifier: MIT
// A dimension that repeats.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using modulo_rules = rules_of<transform_kind::modulo>;

TEST(Modulo, BeginsAgain) {
  const modulo_rules m{{5, 12}, 1, 1};
  for (index_t i = 0; i < 12; ++i) EXPECT_EQ(m.lower({i}), indices{i < 5 ? i : i < 10 ? i - 5 : i - 10});
  EXPECT_EQ(m.upper_lengths(), indices{12});
  EXPECT_EQ(m.lower_lengths(), indices{-1});
  EXPECT_EQ(m.least_lower_length(), 5);
  EXPECT_EQ((modulo_rules{{5, 3}, 1, 1}.least_lower_length()), 3);
  EXPECT_EQ((modulo_rules{{dynamic, 3}, 1, 1}.least_lower_length()), 0);
  EXPECT_EQ((modulo_rules{{5, dynamic}, 1, 1}.least_lower_length()), 0);
}

TEST(Modulo, RunDividesModulusAndLength) {
  EXPECT_EQ((modulo_rules{{16, 48}, 1, 1}.run({32})), indices{16});
  EXPECT_EQ((modulo_rules{{24, 48}, 1, 1}.run({16})), indices{8});
  EXPECT_EQ((modulo_rules{{16, 36}, 1, 1}.run({16})), indices{4});
  EXPECT_EQ((modulo_rules{{dynamic, 48}, 1, 1}.run({16})), indices{1});
  EXPECT_EQ((modulo_rules{{16, dynamic}, 1, 1}.run({16})), indices{1});
}

TEST(Modulo, IsF2LinearForPowersOfTwo) {
  EXPECT_TRUE((modulo_rules{{8, 20}, 1, 1}.f2_linear()));
  EXPECT_FALSE((modulo_rules{{6, 20}, 1, 1}.f2_linear()));
  EXPECT_FALSE((modulo_rules{{dynamic, 20}, 1, 1}.f2_linear()));
}

TEST(Modulo, IsMadeFromModulusAndLength) {
  EXPECT_TRUE(is_made_of(make_modulo_transform(number<5>{}, 12), transform_kind::modulo, 1, 1, {5, dynamic}, {12}));
}

}  // namespace
}  // namespace tilewright
