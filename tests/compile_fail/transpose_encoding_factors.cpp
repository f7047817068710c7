// SPDX-License-Identifier: MIT
// A distribution whose second dimension has no room for another factor.
// EXPECT: load_tile_transpose: the transposed distribution needs more factors than an encoding holds
#include <tilewright/arch/gfx950.hpp>
#include <tilewright/distribution/transpose_encoding.hpp>

namespace tw = tilewright;

using encoding =
    tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<2, 2, 2, 2, 2, 16>, tw::sequence<8>>,
                                   tw::tuple<tw::sequence<1>>, tw::tuple<tw::sequence<5>>,
                                   tw::sequence<1, 1, 1, 1, 1, 2>, tw::sequence<4, 3, 2, 1, 0, 0>>;
using input =
    decltype(tw::make_transpose_input_distribution<short, tw::arch::gfx950>(tw::tile_distribution<encoding::value>{}));
