// SPDX-License-Identifier: MIT
// Three factors of four rows each, three times.
// EXPECT: make_embed_tile_distribution_encoding: together the two have more factors in R or in a dimension than an encoding holds (6)
#include <tilewright/distribution/embed_encoding.hpp>

namespace tw = tilewright;

using copy = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<2, 4, 16>, tw::sequence<4, 8>>,
                                            tw::tuple<tw::sequence<1>, tw::sequence<1, 2>>,
                                            tw::tuple<tw::sequence<1>, tw::sequence<2, 0>>, tw::sequence<1, 2>,
                                            tw::sequence<0, 1>>;
constexpr auto twice = tw::make_embed_tile_distribution_encoding(copy{}, copy{});
constexpr auto thrice = tw::make_embed_tile_distribution_encoding(copy{}, twice);
