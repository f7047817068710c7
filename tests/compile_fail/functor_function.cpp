// SPDX-License-Identifier: MIT
// Functions that a functor transform cannot call.
// EXPECT: functor: a function without captures is needed; hand over run-time values as the tuple of values
// EXPECT: functor: the function must take the upper index and one index_t for each value, and return the lower index
// EXPECT: functor: the promised run must be a positive number<R>
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr int distance = 5;
constexpr auto identity = [](int i) { return i; };
constexpr auto captures = tw::make_functor_transform([step = distance](int i) { return i * step; }, 8);
constexpr auto values = tw::make_functor_transform(identity, 8, 8, tw::make_tuple(1));
constexpr auto run = tw::make_functor_transform(identity, 8, 8, tw::make_tuple(), tw::number<0>{});
