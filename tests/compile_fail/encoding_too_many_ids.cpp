// SPDX-License-Identifier: MIT
// Nine dimensions of Y.
// EXPECT: tile_distribution_encoding: more ids than an encoding holds (6 in a P, 8 in Y)
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

using encoding =
    tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4, 2>, tw::sequence<8, 2>>,
                                   tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                   tw::sequence<1, 1, 1, 1, 1, 1, 1, 1, 1>, tw::sequence<1, 2, 3, 4, 5, 6, 7, 8, 9>>;
constexpr auto distribution = tw::make_static_tile_distribution(encoding{});
