// SPDX-License-Identifier: MIT
// Nine dimensions of registers.
// EXPECT: make_embed_tile_distribution_encoding: together the two have more ids than an encoding holds (6 in a P, 8 in Y)
#include <tilewright/distribution/embed_encoding.hpp>

namespace tw = tilewright;

using cube =
    tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<2>, tw::sequence<2>, tw::sequence<2>>,
                                   tw::tuple<>, tw::tuple<>, tw::sequence<1, 2, 3>, tw::sequence<0, 0, 0>>;
constexpr auto twice = tw::make_embed_tile_distribution_encoding(cube{}, cube{});
constexpr auto thrice = tw::make_embed_tile_distribution_encoding(cube{}, twice);
