// SPDX-License-Identifier: MIT
// A number instead of a list of lengths.
// EXPECT: space_filling_curve: the number of dimensions, then lengths, order and scalars per access as sequence<...>s
#include <tilewright/distribution/space_filling_curve.hpp>

namespace tw = tilewright;

auto n = tw::space_filling_curve<2, tw::number<4>, tw::sequence<0, 1>, tw::sequence<1, 1>>{};
