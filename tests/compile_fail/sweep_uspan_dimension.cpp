// SPDX-License-Identifier: MIT
// A third dimension of a matrix.
// EXPECT: sweep_tile_uspan: the tile has no such dimension
#include <tilewright/tile/sweep_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile_uspan<2>(tile, [](auto...) {}, sequence<1>{});
}
