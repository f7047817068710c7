// SPDX-License-Identifier: MIT
// The lane and Y both own factor 0 of dimension 0.
// EXPECT: tile_distribution_encoding: a factor has two owners; give each (major, minor) id to one P or one Y
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4, 2>, tw::sequence<8, 2>>,
                                                tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                tw::sequence<1, 2>, tw::sequence<0, 1>>;
constexpr auto distribution = tw::make_static_tile_distribution(encoding{});
