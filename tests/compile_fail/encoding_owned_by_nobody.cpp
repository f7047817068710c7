// SPDX-License-Identifier: MIT
// Nobody owns factor 1 of dimension 1.
// EXPECT: tile_distribution_encoding: a factor has no owner; give each (major, minor) id to one P or one Y
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4, 2>, tw::sequence<8, 2>>,
                                                tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                tw::sequence<1>, tw::sequence<1>>;
constexpr auto distribution = tw::make_static_tile_distribution(encoding{});
