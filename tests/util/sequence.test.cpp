// SPDX-License-Identifier: MIT
// Compile-time lists and unrolled loops.
#include <tilewright/util/sequence.hpp>

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

template <index_t Begin, index_t End, index_t Step>
std::vector<index_t> indices_of_static_for() {
  std::vector<index_t> seen;
  static_for<Begin, End, Step>{}([&](auto i) { seen.push_back(number<i.value>::value); });
  return seen;
}

TEST(StaticFor, CountsFromBeginInStepsToBeforeEnd) {
  EXPECT_EQ((indices_of_static_for<0, 4, 1>()), (std::vector<index_t>{0, 1, 2, 3}));
  EXPECT_EQ((indices_of_static_for<2, 9, 3>()), (std::vector<index_t>{2, 5, 8}));
  EXPECT_EQ((indices_of_static_for<-2, 2, 2>()), (std::vector<index_t>{-2, 0}));
  EXPECT_TRUE((indices_of_static_for<3, 3, 1>()).empty());
  EXPECT_TRUE((indices_of_static_for<5, 3, 1>()).empty());
}

}  // namespace
}  // namespace tilewright
