// SPDX-License-Identifier: MIT
// Seven factors of threads along the dimension that goes.
// EXPECT: make_reduce_tile_distribution_encoding: the threads replicate in more factors than an encoding holds in R (6)
#include <tilewright/distribution/reduce_encoding.hpp>

namespace tw = tilewright;

using lanes = tw::tile_distribution_encoding<tw::sequence<2, 2>, tw::tuple<tw::sequence<2, 2, 2, 2, 2>>,
                                             tw::tuple<tw::sequence<0, 0, 1>, tw::sequence<1, 1, 1, 1>>,
                                             tw::tuple<tw::sequence<0, 1, 0>, tw::sequence<1, 2, 3, 4>>, tw::sequence<>,
                                             tw::sequence<>>;
constexpr auto reduced = tw::make_reduce_tile_distribution_encoding(lanes{}, tw::sequence<0>{});
