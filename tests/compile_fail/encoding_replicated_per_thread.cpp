// SPDX-License-Identifier: MIT
// A thread cannot replicate.
// EXPECT: tile_distribution_encoding: an R factor is listed in Y; only threads replicate, list it in a P
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<tw::sequence<2>, tw::tuple<tw::sequence<4, 2>, tw::sequence<8, 2>>,
                                                tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                tw::sequence<1, 2, 0>, tw::sequence<1, 1, 0>>;
constexpr auto distribution = tw::make_static_tile_distribution(encoding{});
