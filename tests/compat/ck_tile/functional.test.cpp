// SPDX-License-Identifier: MIT
// Loops over several dimensions in any order, and lists made of lists.
#include <tilewright/compat/ck_tile/functional.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

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

template <class Loop>
std::vector<multi_index<2>> visited() {
  std::vector<multi_index<2>> result;
  Loop{}([&](auto... indices) { (result.push_back(indices.values), ...); });
  return result;
}

TEST(StaticFord, VisitsEveryIndexInTheOrder) {
  const std::vector<multi_index<2>> rows{{{0, 0}}, {{0, 1}}, {{0, 2}}, {{1, 0}}, {{1, 1}}, {{1, 2}}};
  const std::vector<multi_index<2>> columns{{{0, 0}}, {{1, 0}}, {{0, 1}}, {{1, 1}}, {{0, 2}}, {{1, 2}}};
  EXPECT_EQ((visited<static_ford<sequence<2, 3>>>()), rows);
  EXPECT_EQ((visited<static_ford<sequence<2, 3>, sequence<1, 0>>>()), columns);
  EXPECT_TRUE((visited<static_ford<sequence<2, 0>>>()).empty());
  index_t calls = 0;
  static_ford<sequence<>>{}([&](sequence<>) { ++calls; });
  EXPECT_EQ(calls, 1) << "the one index of no dimensions";
}

TEST(StaticFord, IndicesAreConstants) {
  index_t sum = 0;
  static_ford<sequence<2, 2>>{}([&](auto i) {
    constexpr index_t known = 10 * decltype(i)::values[0] + decltype(i)::values[1];
    sum += known;
  });
  EXPECT_EQ(sum, 0 + 1 + 10 + 11);
}

TEST(StaticUford, PassesNeighboursTogether) {
  std::vector<array<multi_index<2>, 2>> pairs;
  static_uford<sequence<2, 4>, sequence<1, 2>>{}([&](auto a, auto b) { pairs.push_back({{a.values, b.values}}); });
  ASSERT_EQ(pairs.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const index_t row = index_t(i) / 2, col = index_t(i) % 2 * 2;
    EXPECT_EQ(pairs[i][0], (multi_index<2>{{row, col}}));
    EXPECT_EQ(pairs[i][1], (multi_index<2>{{row, col + 1}}));
  }
  // All at once, the second dimension slowest.
  static_uford<sequence<2, 2>, sequence<2, 2>, sequence<1, 0>>{}([&](auto a, auto b, auto c, auto d) {
    EXPECT_EQ(a.values, (multi_index<2>{{0, 0}}));
    EXPECT_EQ(b.values, (multi_index<2>{{1, 0}}));
    EXPECT_EQ(c.values, (multi_index<2>{{0, 1}}));
    EXPECT_EQ(d.values, (multi_index<2>{{1, 1}}));
  });
}

TEST(GenerateTuple, CallsWithConstants) {
  constexpr auto squares = generate_tuple([](auto i) { return number<i * i>{}; }, number<4>{});
  static_assert(__is_same(decltype(squares), const tuple<number<0>, number<1>, number<4>, number<9>>));
  static_assert(generate_tuple([](auto i) { return i.value + 1; }, number<2>{}).get<1>() == 2);
  static_assert(generate_tuple([](auto) { return 0; }, number<0>{}).size() == 0);
}

TEST(ContainerConcat, KeepsTheOrder) {
  constexpr auto joined = container_concat(make_tuple(number<1>{}, 2), make_tuple('c'), make_tuple(4.0));
  static_assert(__is_same(decltype(joined), const tuple<number<1>, int, char, double>));
  static_assert(joined.get<0>() == 1 && joined.get<1>() == 2 && joined.get<2>() == 'c' && joined.get<3>() == 4.0);
  constexpr array<index_t, 2> a{{1, 2}};
  constexpr array<index_t, 1> b{{3}};
  static_assert(container_concat(a, b, a) == array<index_t, 5>{{1, 2, 3, 1, 2}});
  static_assert(
      __is_same(decltype(container_concat(sequence<1>{}, sequence<>{}, sequence<2, 3>{})), sequence<1, 2, 3>));
}

TEST(ToSequence, HasTheArraysValues) {
  constexpr array<index_t, 3> values{{4, 5, 6}};
  static_assert(__is_same(decltype(to_sequence<values>()), sequence<4, 5, 6>));
}

}  // namespace
}  // namespace tilewright
