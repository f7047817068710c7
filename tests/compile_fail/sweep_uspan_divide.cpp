// SPDX-License-Identifier: MIT
// Three neighbours of four.
// EXPECT: sweep_tile_uspan: each number of unpacks must divide the length of its digit
#include <tilewright/tile/sweep_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::sweep_tile_uspan<1>(tile, [](auto...) {}, sequence<3>{});
}
