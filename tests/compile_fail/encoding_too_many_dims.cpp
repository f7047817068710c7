// SPDX-License-Identifier: MIT
// A tile of five dimensions, and three partition indices.
// EXPECT: tile_distribution_encoding: an encoding holds 4 dimensions and 2 partition indices (wave, lane)
// EXPECT: tile_distribution_encoding: an encoding holds 4 dimensions and 2 partition indices (wave, lane)
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<
    tw::sequence<>,
    tw::tuple<tw::sequence<4, 2>, tw::sequence<8, 2>, tw::sequence<1>, tw::sequence<1>, tw::sequence<1>>,
    tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>, tw::sequence<1, 2>, tw::sequence<1, 1>>;
constexpr auto distribution = tw::make_static_tile_distribution(encoding{});

using block_wave_lane =
    tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4, 2>, tw::sequence<8, 2>>,
                                   tw::tuple<tw::sequence<1>, tw::sequence<1>, tw::sequence<2>>,
                                   tw::tuple<tw::sequence<0>, tw::sequence<1>, tw::sequence<0>>, tw::sequence<2>,
                                   tw::sequence<1>>;
constexpr auto of_a_grid = tw::make_static_tile_distribution(block_wave_lane{});
