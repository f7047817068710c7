// SPDX-License-Identifier: MIT
// H as one sequence.
// EXPECT: tile_distribution_encoding: R and both Y lists are sequences, H and both P lists are tuples of sequences
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<tw::sequence<>, tw::sequence<4, 8>, tw::tuple<tw::sequence<1>>,
                                                tw::tuple<tw::sequence<0>>, tw::sequence<1>, tw::sequence<1>>;
encoding e;
