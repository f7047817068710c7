// SPDX-License-Identifier: MIT
// Y names factor 3 of dimension 0, which has two: the message has the id.
// EXPECT: tile_distribution_encoding: an id names a factor that does not exist; ids are (0, i) for R and (1 + d, i) for factor i of dimension d
// EXPECT: is_factor_owned_well<1, 3>
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4, 2>, tw::sequence<8, 2>>,
                                                tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                tw::sequence<1, 2>, tw::sequence<3, 1>>;
constexpr auto distribution = tw::make_static_tile_distribution(encoding{});
