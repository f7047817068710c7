// SPDX-License-Identifier: MIT
// A dimension permuted by a bit matrix over another.
#include "rules.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

using swizzle = rules_of<transform_kind::swizzle>;

TEST(Swizzle, EachBitOfTheFirstIndexFlipsItsBitsOfTheSecond) {
  const swizzle s{{8, 16, 1, 6, 8}, 2, 2};
  EXPECT_EQ(s.lower({0, 5}), (indices{0, 5}));
  EXPECT_EQ(s.lower({1, 5}), (indices{1, 5 ^ 1}));
  EXPECT_EQ(s.lower({2, 5}), (indices{2, 5 ^ 6}));
  EXPECT_EQ(s.lower({7, 5}), (indices{7, 5 ^ 1 ^ 6 ^ 8}));
  EXPECT_EQ(s.upper_lengths(), (indices{8, 16}));
  EXPECT_EQ(s.lower_lengths(), (indices{8, 16}));
  EXPECT_EQ(s.run({16, 16}), (indices{1, 1}));
  EXPECT_TRUE(s.f2_linear());
}

TEST(Swizzle, IsItsOwnInverse) {
  const swizzle s{{16, 8, 3, 5, 0, 7}, 2, 2};
  std::set<indices> places;
  for (index_t i = 0; i < 16; ++i) {
    for (index_t j = 0; j < 8; ++j) {
      EXPECT_EQ(s.lower(s.lower({i, j})), (indices{i, j}));
      places.insert(s.lower({i, j}));
    }
  }
  EXPECT_EQ(places.size(), 128u);
}

// With the numbers 1, 2, 4 and no more it is the XOR transform.
TEST(Swizzle, ContainsXor) {
  const swizzle s{{32, 8, 1, 2, 4, 0, 0}, 2, 2};
  const rules_of<transform_kind::xor_modulo> x{{32, 8}, 2, 2};
  for (index_t i = 0; i < 32; ++i) {
    for (index_t j = 0; j < 8; ++j) EXPECT_EQ(s.lower({i, j}), x.lower({i, j}));
  }
}

TEST(Swizzle, IsMadeFromLengthsAndFlips) {
  EXPECT_TRUE(is_made_of(make_swizzle_transform(make_tuple(number<8>{}, number<16>{}), sequence<1, 6, 8>{}),
                         transform_kind::swizzle, 2, 2, {8, 16, 1, 6, 8}, {}));
  EXPECT_TRUE(is_made_of(make_swizzle_transform(make_tuple(number<4>{}, number<16>{}), sequence<0, 15>{}),
                         transform_kind::swizzle, 2, 2, {4, 16, 0, 15}, {}));
}

TEST(Swizzle, UsesEveryBitThatParametersHaveRoomFor) {
  indices parameters{1 << 14, 8};
  for (int bit = 0; bit < 14; ++bit) parameters.push_back(bit == 13 ? 5 : 0);
  EXPECT_EQ((rules_of<transform_kind::swizzle>{parameters, 2, 2}.lower({1 << 13, 1})), (indices{1 << 13, 4}));
}

}  // namespace
}  // namespace tilewright
