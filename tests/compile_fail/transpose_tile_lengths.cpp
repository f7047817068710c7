// SPDX-License-Identifier: MIT
// A transpose into a tile of the same lengths.
// EXPECT: transpose_tile: the tiles must have two dimensions, the lengths of one being those of the other exchanged
#include <tilewright/tile/shuffle_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

void f(tw::static_distributed_tensor<float, distribution>& out,
       const tw::static_distributed_tensor<float, distribution>& in, tw::exec::lds_pointer p) {
  tw::transpose_tile(out, in, p);
}
