// SPDX-License-Identifier: MIT
// A row inside of a tile of two dimensions.
// EXPECT: make_embed_tile_distribution_encoding: the outer and the inner tile need the same number of dimensions
#include <tilewright/distribution/embed_encoding.hpp>

namespace tw = tilewright;

using copy = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<2, 4, 16>, tw::sequence<4, 8>>,
                                            tw::tuple<tw::sequence<1>, tw::sequence<1, 2>>,
                                            tw::tuple<tw::sequence<1>, tw::sequence<2, 0>>, tw::sequence<1, 2>,
                                            tw::sequence<0, 1>>;
using row = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<8>>, tw::tuple<tw::sequence<1>>,
                                           tw::tuple<tw::sequence<0>>, tw::sequence<>, tw::sequence<>>;
constexpr auto both = tw::make_embed_tile_distribution_encoding(copy{}, row{});
