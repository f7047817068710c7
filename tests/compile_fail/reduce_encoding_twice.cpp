// SPDX-License-Identifier: MIT
// One dimension, listed twice.
// EXPECT: make_reduce_tile_distribution_encoding: a dimension is listed twice
#include <tilewright/distribution/reduce_encoding.hpp>

namespace tw = tilewright;

using copy = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<2, 4, 16>, tw::sequence<4, 8>>,
                                            tw::tuple<tw::sequence<1>, tw::sequence<1, 2>>,
                                            tw::tuple<tw::sequence<1>, tw::sequence<2, 0>>, tw::sequence<1, 2>,
                                            tw::sequence<0, 1>>;
constexpr auto reduced = tw::make_reduce_tile_distribution_encoding(copy{}, tw::sequence<1, 1>{});
