// SPDX-License-Identifier: MIT
// The rows of one wave of four.
// EXPECT: slice_distribution_from_x: some threads would hold nothing; cut only factors that a thread holds (Y)
#include <tilewright/distribution/slice_encoding.hpp>

namespace tw = tilewright;

using copy = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<2, 4, 16>, tw::sequence<4, 8>>,
                                            tw::tuple<tw::sequence<1>, tw::sequence<1, 2>>,
                                            tw::tuple<tw::sequence<1>, tw::sequence<2, 0>>, tw::sequence<1, 2>,
                                            tw::sequence<0, 1>>;
constexpr auto part = tw::slice_distribution_from_x(tw::make_static_tile_distribution(copy{}), tw::sequence<0, 0>{},
                                                    tw::sequence<16, 32>{});
