// SPDX-License-Identifier: MIT
// Transforms of nine dimensions, of lengths known at run time and at compile time.
// EXPECT: transform: too many dimensions; split it in two
// EXPECT: transform: too many dimensions; split it in two
// EXPECT: transform: too many dimensions; split it in two
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr tw::number<2> two{};
constexpr auto lower = tw::make_merge_transform(tw::make_tuple(2, 2, 2, 2, 2, 2, 2, 2, 2));
constexpr auto upper = tw::make_unmerge_transform(tw::make_tuple(2, 2, 2, 2, 2, 2, 2, 2, 2));
constexpr auto known = tw::make_merge_transform(tw::make_tuple(two, two, two, two, two, two, two, two, two));
