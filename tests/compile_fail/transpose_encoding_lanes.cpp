// SPDX-License-Identifier: MIT
// Twelve lanes.
// EXPECT: load_tile_transpose: the instruction exchanges elements among 16 (ldmatrix: 32) neighbouring lanes
#include <tilewright/arch/gfx950.hpp>
#include <tilewright/distribution/transpose_encoding.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<12>, tw::sequence<4>>,
                                                tw::tuple<tw::sequence<1>>, tw::tuple<tw::sequence<0>>, tw::sequence<2>,
                                                tw::sequence<0>>;
using input =
    decltype(tw::make_transpose_input_distribution<short, tw::arch::gfx950>(tw::tile_distribution<encoding::value>{}));
