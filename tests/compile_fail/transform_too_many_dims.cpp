// SPDX-License-Identifier: MIT
// A transform of nine dimensions.
// EXPECT: transform: too many dimensions; split it in two
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto t = tw::make_merge_transform(tw::make_tuple(2, 2, 2, 2, 2, 2, 2, 2, 2));
