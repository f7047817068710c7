// SPDX-License-Identifier: MIT
// Compile-time lists and unrolled loops.
#include <tilewright/core/base/sequence.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

TEST(Sequence, ListsItsValues) {
  constexpr sequence<5, 0, -3> s{};
  static_assert(s.size() == 3 && s[0] == 5 && s[2] == -3);
  static_assert(sequence<>::size() == 0);
}

template <index_t N>
constexpr index_t sum_of_squares() {
  index_t sum = 0;
  unroll<N>([&](auto i) {
    constexpr index_t square = i.value * i.value;
    sum += square;
  });
  return sum;
}

TEST(Unroll, GivesEachIndexAsAConstant) {
  static_assert(sum_of_squares<0>() == 0 && sum_of_squares<1>() == 0 && sum_of_squares<5>() == 30);
}

TEST(Unroll, RunsInOrder) {
  std::vector<index_t> seen;
  unroll<4>([&](index_t i) { seen.push_back(i); });
  EXPECT_EQ(seen, (std::vector<index_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace tilewright
