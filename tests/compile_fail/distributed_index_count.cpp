// SPDX-License-Identifier: MIT
// An element of a two-dimensional tile with one index.
// EXPECT: tile_distributed_index: one index is needed for each dimension of the tile
#include <tilewright/tile/sweep_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

float f(const tw::static_distributed_tensor<float, distribution>& tile) {
  return tile[make_tuple(tw::tile_distributed_index<>{})];
}
