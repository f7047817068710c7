// SPDX-License-Identifier: MIT
// A factor of zero.
// EXPECT: tile_distribution_encoding: a factor must be at least 1
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4, 0>, tw::sequence<8, 2>>,
                                                tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                tw::sequence<1, 2>, tw::sequence<1, 1>>;
constexpr auto distribution = tw::make_static_tile_distribution(encoding{});
