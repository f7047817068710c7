// SPDX-License-Identifier: MIT
// Encodings composed of an outer and an inner one.
#include <tilewright/core/distribution/embed_encoding.hpp>

namespace tw = tilewright;
using tw::sequence, tw::tuple;

using copy = tw::tile_distribution_encoding<sequence<>, tuple<sequence<2, 4, 16>, sequence<4, 8>>,
                                            tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 0>>,
                                            sequence<1, 2>, sequence<0, 1>>;

// A row inside of a tile of two dimensions.
// EXPECT: make_embed_tile_distribution_encoding: the outer and the inner tile need the same number of dimensions
using row = tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>>, tuple<sequence<1>>, tuple<sequence<0>>,
                                           sequence<>, sequence<>>;
constexpr auto dimensions = tw::make_embed_tile_distribution_encoding(copy{}, row{});

// Three factors of four rows each, three times.
// EXPECT: make_embed_tile_distribution_encoding: together the two have more factors in R or in a dimension than an encoding holds (6)
constexpr auto factors_twice = tw::make_embed_tile_distribution_encoding(copy{}, copy{});
constexpr auto factors_thrice = tw::make_embed_tile_distribution_encoding(copy{}, factors_twice);

// Nine dimensions of registers.
// EXPECT: make_embed_tile_distribution_encoding: together the two have more ids than an encoding holds (6 in a P, 8 in Y)
using cube = tw::tile_distribution_encoding<sequence<>, tuple<sequence<2>, sequence<2>, sequence<2>>, tuple<>, tuple<>,
                                            sequence<1, 2, 3>, sequence<0, 0, 0>>;
constexpr auto ids_twice = tw::make_embed_tile_distribution_encoding(cube{}, cube{});
constexpr auto ids_thrice = tw::make_embed_tile_distribution_encoding(cube{}, ids_twice);

// A value instead of an encoding type.
// EXPECT: make_embed_tile_distribution_encoding: encodings are needed: tile_distribution_encoding<...>{}, or values as number<encoding>{}
constexpr tw::distribution_encoding encoding;
auto type = tw::make_embed_tile_distribution_encoding(encoding, encoding);

// Values of different dimensions.
// EXPECT: encodings_cannot_be_embedded
constexpr tw::distribution_encoding of_two_dims = [] {
  tw::distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  return e;
}();
constexpr tw::distribution_encoding value = tw::embed(of_two_dims, tw::distribution_encoding{});
