// SPDX-License-Identifier: MIT
// Encodings without some dimensions.
#include <tilewright/core/distribution/reduce_encoding.hpp>

namespace tw = tilewright;
using tw::sequence, tw::tuple;

using copy = tw::tile_distribution_encoding<sequence<>, tuple<sequence<2, 4, 16>, sequence<4, 8>>,
                                            tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 0>>,
                                            sequence<1, 2>, sequence<0, 1>>;

// Dimension 2 of a tile that has 0 and 1.
// EXPECT: make_reduce_tile_distribution_encoding: the tile has no such dimension
constexpr auto dimension = tw::make_reduce_tile_distribution_encoding(copy{}, sequence<2>{});

// Seven factors of threads along the dimension that goes.
// EXPECT: make_reduce_tile_distribution_encoding: the threads replicate in more factors than an encoding holds in R (6)
using lanes = tw::tile_distribution_encoding<sequence<2, 2>, tuple<sequence<2, 2, 2, 2, 2>>,
                                             tuple<sequence<0, 0, 1>, sequence<1, 1, 1, 1>>,
                                             tuple<sequence<0, 1, 0>, sequence<1, 2, 3, 4>>, sequence<>, sequence<>>;
constexpr auto factors = tw::make_reduce_tile_distribution_encoding(lanes{}, sequence<0>{});

// One dimension, listed twice.
// EXPECT: make_reduce_tile_distribution_encoding: a dimension is listed twice
constexpr auto twice = tw::make_reduce_tile_distribution_encoding(copy{}, sequence<1, 1>{});

// A value instead of an encoding type.
// EXPECT: make_reduce_tile_distribution_encoding: an encoding is needed: tile_distribution_encoding<...>{}, or a value as number<encoding>{}
constexpr tw::distribution_encoding encoding;
auto type = tw::make_reduce_tile_distribution_encoding(encoding, sequence<0>{});

// A dimension that the tile does not have.
// EXPECT: encoding_cannot_be_reduced
constexpr tw::distribution_encoding value = tw::reduce(tw::distribution_encoding{}, tw::multi_index<1>{{0}});
