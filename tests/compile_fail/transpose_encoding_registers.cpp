// SPDX-License-Identifier: MIT
// Two halves in each lane, where an instruction takes four.
// EXPECT: load_tile_transpose: the instruction exchanges 8 (ldmatrix: 16) bytes of each lane
#include <tilewright/arch/gfx950.hpp>
#include <tilewright/distribution/transpose_encoding.hpp>

namespace tw = tilewright;

using encoding = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<16>, tw::sequence<2>>,
                                                tw::tuple<tw::sequence<1>>, tw::tuple<tw::sequence<0>>, tw::sequence<2>,
                                                tw::sequence<0>>;
using input =
    decltype(tw::make_transpose_output_distribution<short, tw::arch::gfx950>(tw::tile_distribution<encoding::value>{}));
