// SPDX-License-Identifier: MIT
// The permutation that keeps LDS columns apart.
#include "rules.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

using xor_rules = rules_of<transform_kind::xor_modulo>;

TEST(Xor, FlipsTheBitsOfTheFirstIndexInTheSecond) {
  const xor_rules x{{32, 8}, 2, 2};
  EXPECT_EQ(x.lower({0, 5}), (indices{0, 5}));
  EXPECT_EQ(x.lower({3, 5}), (indices{3, 6}));
  EXPECT_EQ(x.lower({7, 7}), (indices{7, 0}));
  EXPECT_EQ(x.lower({8 + 3, 5}), (indices{11, 6})) << "modulo the second length";
  EXPECT_EQ(x.upper_lengths(), (indices{32, 8}));
  EXPECT_EQ(x.lower_lengths(), (indices{32, 8}));
}

TEST(Xor, IsItsOwnInverseAndABijectionInEveryRow) {
  const xor_rules x{{12, 16}, 2, 2};
  for (index_t i = 0; i < 12; ++i) {
    std::set<index_t> columns;
    for (index_t j = 0; j < 16; ++j) {
      const indices low = x.lower({i, j});
      EXPECT_EQ(x.lower(low), (indices{i, j}));
      columns.insert(low[1]);
    }
    EXPECT_EQ(columns.size(), 16u);
    EXPECT_EQ(*columns.rbegin(), 15);
  }
}

TEST(Xor, LeavesNoRuns) { EXPECT_EQ((xor_rules{{32, 8}, 2, 2}.run({16, 16})), (indices{1, 1})); }

TEST(Xor, IsF2Linear) { EXPECT_TRUE((xor_rules{{12, 8}, 2, 2}.f2_linear())); }

TEST(Xor, IsMadeFromItsLengths) {
  EXPECT_TRUE(is_made_of(make_xor_transform(make_tuple(number<32>{}, number<8>{})), transform_kind::xor_modulo, 2, 2,
                         {32, 8}, {}));
  EXPECT_TRUE(is_made_of(make_xor_transform(make_tuple(12, number<8>{})), transform_kind::xor_modulo, 2, 2,
                         {dynamic, 8}, {12}));
}

}  // namespace
}  // namespace tilewright
