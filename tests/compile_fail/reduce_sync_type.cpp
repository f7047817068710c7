// SPDX-License-Identifier: MIT
// Halves combined across lanes.
// EXPECT: block_tile_reduce_sync: lanes exchange values of 4 bytes; reduce to float or int
#include <tilewright/tile/reduce_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

void f(tw::static_distributed_tensor<tw::half_t, distribution>& tile) {
  tw::block_tile_reduce_sync(tile, tw::reduce_sum{});
}
