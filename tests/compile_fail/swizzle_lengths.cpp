// SPDX-License-Identifier: MIT
// A swizzle over 6 rows.
// EXPECT: swizzle: both lengths must be powers of two
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto t = tw::make_swizzle_transform(tw::make_tuple(tw::number<6>{}, tw::number<8>{}), tw::sequence<1, 2>{});
