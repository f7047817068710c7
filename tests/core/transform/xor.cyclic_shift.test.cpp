// SPDX-License-Identifier: MIT
// The permutation for lengths that are no power of two.
#include "rules.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

using cyclic_shift = rules_of<transform_kind::cyclic_shift>;

TEST(CyclicShift, RotatesEachRowByItsIndex) {
  const cyclic_shift c{{8, 6}, 2, 2};
  EXPECT_EQ(c.lower({0, 5}), (indices{0, 5}));
  EXPECT_EQ(c.lower({1, 5}), (indices{1, 0}));
  EXPECT_EQ(c.lower({4, 3}), (indices{4, 1}));
  EXPECT_EQ(c.lower({7, 0}), (indices{7, 1}));
  EXPECT_EQ(c.upper_lengths(), (indices{8, 6}));
  EXPECT_EQ(c.lower_lengths(), (indices{8, 6}));
}

TEST(CyclicShift, IsABijectionForEveryLength) {
  for (index_t length = 1; length <= 17; ++length) {
    const cyclic_shift c{{9, length}, 2, 2};
    std::set<indices> seen;
    for (index_t i = 0; i < 9; ++i) {
      for (index_t j = 0; j < length; ++j) {
        const indices low = c.lower({i, j});
        EXPECT_TRUE(low[0] == i && 0 <= low[1] && low[1] < length);
        seen.insert(low);
      }
    }
    EXPECT_EQ(index_t(seen.size()), 9 * length);
  }
}

TEST(CyclicShift, LeavesNoRuns) { EXPECT_EQ((cyclic_shift{{32, 8}, 2, 2}.run({16, 16})), (indices{1, 1})); }

TEST(CyclicShift, IsNotF2Linear) { EXPECT_FALSE((cyclic_shift{{8, 8}, 2, 2}.f2_linear())); }

TEST(CyclicShift, IsMadeFromItsLengths) {
  EXPECT_TRUE(is_made_of(make_cyclic_shift_transform(make_tuple(number<12>{}, 6)), transform_kind::cyclic_shift, 2, 2,
                         {12, dynamic}, {6}));
}

}  // namespace
}  // namespace tilewright
