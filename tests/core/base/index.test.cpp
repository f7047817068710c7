// SPDX-License-Identifier: MIT
// Integers that the compiler knows.
#include <tilewright/core/base/index.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace tilewright {
namespace {

TEST(Number, ConvertsToItsValue) {
  constexpr number<64> n{};
  static_assert(n == 64 && n.value == 64 && n + 1 == 65);
  static_assert(bool_constant<true>{});
  EXPECT_EQ(index_t(n), 64);
}

TEST(Number, IsRecognised) {
  static_assert(detail::is_number_v<number<3>> && detail::is_number_v<const number<3>>);
  static_assert(!detail::is_number_v<index_t> && !detail::is_number_v<long_index_t>);
}

TEST(Number, TakesNoRoom) { static_assert(__is_empty(number<64>)); }

struct pair_of_indices {
  index_t first, second;
};
template <pair_of_indices Pair>
index_t added_to(index_t i) {
  return i + constant(Pair.first) - constant(Pair.second);
}

TEST(Constant, IsWhatTheExpressionSays) {
  static_assert(constant(7) == 7);
  EXPECT_EQ((added_to<pair_of_indices{40, 5}>(2)), 37);
}

TEST(Dynamic, IsNoLength) {
  static_assert(dynamic == std::numeric_limits<index_t>::min());
  static_assert(sizeof(index_t) == 4 && sizeof(long_index_t) == 8);
}

}  // namespace
}  // namespace tilewright
