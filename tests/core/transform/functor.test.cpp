// SPDX-License-Identifier: MIT
// Lower indices that a function computes.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

struct mirrored {
  constexpr index_t operator()(index_t i, index_t length) const { return length - 1 - i; }
};
constexpr auto square = [](index_t i) { return i * i; };

template <class Transform>
index_t lower_of(const Transform& transform, const indices& parameters, index_t up) {
  index_t low = 0;
  detail::with_rules(transform.spec, [&](auto rules) {
    rules.lower(parameters.data(), 1, &up, &low);
    return 0;
  });
  return low;
}

TEST(Functor, CallsTheFunctionWithItsValues) {
  const auto t = make_functor_transform(mirrored{}, number<9>{}, number<5>{}, make_tuple(7));
  EXPECT_TRUE(is_made_of(t, transform_kind::functor, 1, 1, {9, 5, 1, dynamic}, {7}));
  EXPECT_EQ(lower_of(t, {9, 5, 1, 7}, 4), 2);
  EXPECT_EQ(lower_of(t, {9, 5, 1, 8}, 0), 7);
  EXPECT_EQ(lower_of(make_functor_transform(square, 30, 6), {30, 6, 1}, 5), 25);
}

TEST(Functor, IsNotCalledOutsideOfItsLength) {
  const auto t = make_functor_transform(square, 30, 6);
  EXPECT_EQ(lower_of(t, {30, 6, 1}, 6), -1);
  EXPECT_EQ(lower_of(t, {30, 6, 1}, -1), -1);
}

TEST(Functor, HasNoElementWhereItReturnsNoIndex) {
  const auto t = make_functor_transform(mirrored{}, 9, 5, make_tuple(3));
  const indices parameters{2, 5, 1, 3};  // lower indices 2, 1, 0, -1, -2, of which 0 and 1 exist
  for (index_t up = 0; up < 5; ++up) {
    const bool valid =
        detail::with_rules(t.spec, [&](auto rules) { return rules.is_valid(parameters.data(), 1, &up); });
    EXPECT_EQ(valid, up == 1 || up == 2) << up;
  }
}

using functor = detail::transform_rules<transform_kind::functor>;

TEST(Functor, LengthsAndPromise) {
  const auto run = [](const indices& parameters, index_t low_run) {
    index_t up_run = 0;
    functor::run(parameters.data(), 1, &low_run, &up_run);
    return up_run;
  };
  EXPECT_EQ(run({9, 16, 8}, 16), 8);
  EXPECT_EQ(run({9, 16, 8}, 4), 4);
  EXPECT_EQ(run({9, 12, 8}, 16), 4);
  EXPECT_EQ(run({9, dynamic, 8}, 16), 8) << "guaranteed";
  EXPECT_EQ(run({9, dynamic, 6}, 6), 6);
  const indices lengths{9, 5};
  EXPECT_EQ(functor::lower_length(lengths.data(), 1, 0), 9);
  EXPECT_EQ(functor::upper_length(lengths.data(), 1, 0), 5);
  EXPECT_TRUE(functor::has_constant_term(lengths.data(), 1));
}

TEST(Functor, OfOneLengthMapsADimensionToItself) {
  EXPECT_TRUE(is_made_of(make_functor_transform(square, number<4>{}), transform_kind::functor, 1, 1, {4, 4, 1}, {}));
  EXPECT_TRUE(is_made_of(make_functor_transform(square, 4, 4, make_tuple(), number<2>{}), transform_kind::functor, 1, 1,
                         {dynamic, dynamic, 2}, {4, 4}));
}

}  // namespace
}  // namespace tilewright
