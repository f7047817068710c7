// SPDX-License-Identifier: MIT
// Tuples of values of different types.
#include <tilewright/core/base/sequence.hpp>
#include <tilewright/core/base/tuple.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tilewright {
namespace {

TEST(Tuple, HoldsValuesOfDifferentTypes) {
  auto t = tilewright::make_tuple(3, std::string("four"), number<5>{});
  static_assert(t.size() == 3);
  EXPECT_EQ(t.get<0>(), 3);
  EXPECT_EQ(t.get<1>(), "four");
  static_assert(decltype(t.get<2>() + 0)(5) == 5);
  t.get<0>() = 7;
  EXPECT_EQ(t.get<0>(), 7);
  get<0>(t) = 8;
  t[number<1>{}] += "teen";
  EXPECT_EQ(get<0>(t), 8);
  EXPECT_EQ(t[number<1>{}], "fourteen");
  constexpr auto numbers = make_tuple(number<3>{}, sequence<4, 5>{});
  static_assert(get<0>(numbers) == 3 && numbers[number<1>{}][1] == 5);
}

TEST(Tuple, NumbersStayKnownToTheCompiler) {
  constexpr auto t = make_tuple(number<16>{}, number<16>{}, number<2>{});
  static_assert(t.get<0>() == 16 && t.get<1>() == 16 && t.get<2>() == 2);
  const auto mixed = make_tuple(number<16>{}, 3);
  static_assert(detail::is_number_v<std::remove_cvref_t<decltype(mixed.get<0>())>>);
  static_assert(sizeof(make_tuple(number<1>{}, 3)) == sizeof(int), "numbers take no room");
}

TEST(Tuple, OfTypesThatSayEverythingIsOneEmptyClass) {
  using numbers = tuple<number<16>, sequence<1, 2>>;
  static_assert(__is_empty(numbers) && __is_trivially_copyable(numbers));
  static_assert(__is_same(decltype(numbers{}.get<1>()), sequence<1, 2>));
  constexpr tuple deduced{number<16>{}, sequence<1, 2>{}};
  static_assert(__is_same(decltype(deduced), const numbers));
  static_assert(apply([](auto a, auto b) { return a + b[1]; }, deduced) == 18);
}

TEST(Tuple, OfNothing) {
  static_assert(make_tuple().size() == 0 && apply([] { return 3; }, make_tuple()) == 3);
}

TEST(Tuple, ApplyPassesTheElementsInOrder) {
  static_assert(apply([](auto... v) { return sizeof...(v); }, make_tuple(1, 2, 3)) == 3);
  static_assert(apply([](int a, int b, int c) { return 100 * a + 10 * b + c; }, make_tuple(1, 2, 3)) == 123);
}

TEST(Tuple, HasTheTypesOfItsValues) { static_assert(__is_same(decltype(make_tuple(1, 'c')), tuple<int, char>)); }

}  // namespace
}  // namespace tilewright
