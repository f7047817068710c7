// SPDX-License-Identifier: MIT
// Arrays and short vectors: values in constant expressions, and template arguments.
#include <tilewright/core/base/array.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace tilewright {
namespace {

template <auto Value>
struct tag {
  static constexpr auto value = Value;
};

TEST(Array, HoldsItsValues) {
  constexpr array<index_t, 3> a{{4, 5, 6}};
  static_assert(a.size() == 3 && a[0] == 4 && a[2] == 6);
  static_assert(sizeof(a) == 3 * sizeof(index_t));
  EXPECT_EQ(std::accumulate(a.begin(), a.end(), 0), 15);
  EXPECT_EQ(a.data() + 3, a.end());
}

TEST(Array, CanBeChanged) {
  array<index_t, 4> a{};
  for (index_t& value : a) value = 7;
  a[1] = 8;
  EXPECT_EQ(a, (array<index_t, 4>{{7, 8, 7, 7}}));
  EXPECT_NE(a, (array<index_t, 4>{{7, 7, 7, 7}}));
}

TEST(Array, OfNothing) {
  constexpr array<index_t, 0> none{};
  static_assert(none.size() == 0 && none.begin() == none.end() && none == array<index_t, 0>{});
}

TEST(Array, IsATemplateArgument) {
  static_assert(__is_same(tag<array<index_t, 2>{{1, 2}}>, tag<multi_index<2>{{1, 2}}>));
  static_assert(!__is_same(tag<array<index_t, 2>{{1, 2}}>, tag<array<index_t, 2>{{2, 1}}>));
}

constexpr inplace_vector<index_t, 4> one_two() {
  inplace_vector<index_t, 4> v;
  v.push_back(1);
  v.push_back(2);
  return v;
}

TEST(InplaceVector, GrowsUpToItsCapacity) {
  inplace_vector<index_t, 4> v;
  EXPECT_TRUE(v.empty());
  for (index_t i = 0; i < v.capacity(); ++i) {
    v.push_back(10 * i);
    EXPECT_EQ(v.size(), i + 1);
    EXPECT_EQ(v.back(), 10 * i);
  }
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 60);
}

TEST(InplaceVector, EqualContentsAreEqualTemplateArguments) {
  static_assert(one_two().size() == 2 && one_two()[1] == 2);
  static_assert(__is_same(tag<one_two()>, tag<inplace_vector<index_t, 4>{{1, 2}, 2}>));
  static_assert(!__is_same(tag<one_two()>, tag<inplace_vector<index_t, 4>{{1, 2, 0}, 3}>));
}

}  // namespace
}  // namespace tilewright
