// SPDX-License-Identifier: MIT
// Two major and one minor id.
// EXPECT: tile_distribution_encoding: as many minor as major ids are needed
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4, 2>, tw::sequence<8, 2>>,
                                                tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                tw::sequence<1, 2>, tw::sequence<1>>;
constexpr auto distribution = tw::make_static_tile_distribution(encoding{});
