// SPDX-License-Identifier: MIT
// A third dimension of a matrix, two numbers for a span of one digit, three neighbours of four.
// EXPECT: sweep_tile_uspan: the tile has no such dimension
// EXPECT: sweep_tile_uspan: one number of unpacks is needed for each digit of the span
// EXPECT: sweep_tile_uspan: each number of unpacks must divide the length of its digit
#include <tilewright/tile/sweep_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile_uspan<2>(tile, [](auto...) {}, sequence<1>{});
  tw::sweep_tile_uspan<1>(tile, [](auto...) {}, sequence<1, 2>{});
  tw::sweep_tile_uspan<1>(tile, [](auto...) {}, sequence<3>{});
}
