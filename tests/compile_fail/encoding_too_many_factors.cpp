// SPDX-License-Identifier: MIT
// A dimension of seven factors.
// EXPECT: tile_distribution_encoding: a list has more factors than an encoding holds (6)
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

using encoding =
    tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4, 2, 1, 1, 1, 1, 1>, tw::sequence<8, 2>>,
                                   tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>, tw::sequence<1, 2>,
                                   tw::sequence<1, 1>>;
constexpr auto distribution = tw::make_static_tile_distribution(encoding{});
