// SPDX-License-Identifier: MIT
// A distribution of rows without columns.
// EXPECT: load_tile_transpose: the tile must have two dimensions
#include <tilewright/arch/gfx950.hpp>
#include <tilewright/distribution/transpose_encoding.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<64>>, tw::tuple<tw::sequence<1>>,
                                                tw::tuple<tw::sequence<0>>, tw::sequence<>, tw::sequence<>>;
using input =
    decltype(tw::make_transpose_input_distribution<short, tw::arch::gfx950>(tw::tile_distribution<encoding::value>{}));
