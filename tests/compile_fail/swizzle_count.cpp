// SPDX-License-Identifier: MIT
// Eight rows have three bits, but two numbers are given.
// EXPECT: swizzle: one number is needed for each bit of the first dimension
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto t = tw::make_swizzle_transform(tw::make_tuple(tw::number<8>{}, tw::number<8>{}), tw::sequence<1, 2>{});
