// SPDX-License-Identifier: MIT
// A flip that leaves the permuted dimension.
// EXPECT: swizzle: a number has bits that the permuted dimension does not have
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto t = tw::make_swizzle_transform(tw::make_tuple(tw::number<4>{}, tw::number<8>{}), tw::sequence<1, 8>{});
