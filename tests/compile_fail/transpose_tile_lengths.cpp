// SPDX-License-Identifier: MIT
// A transpose into a tile of the same lengths; of a tile of one dimension.
// EXPECT: transpose_tile: the tiles must have two dimensions, the lengths of one being those of the other exchanged
// EXPECT: transpose_tile: the tiles must have two dimensions, the lengths of one being those of the other exchanged
// EXPECT: transpose_tile2d: the tiles must have two dimensions
#include <tilewright/tile/shuffle_tile.hpp>

#include "sample_tile.hpp"

void f(tw::static_distributed_tensor<float, distribution>& out,
       const tw::static_distributed_tensor<float, distribution>& in, tw::exec::lds_pointer p) {
  tw::transpose_tile(out, in, p);
}

using row = tw::tile_distribution<
    tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<64>>, tw::tuple<tw::sequence<1>>,
                                   tw::tuple<tw::sequence<0>>, tw::sequence<>, tw::sequence<>>::value>;
void g(tw::static_distributed_tensor<float, distribution>& out, tw::static_distributed_tensor<float, row>& in,
       tw::exec::lds_pointer p) {
  tw::transpose_tile(out, in, p);
  tw::transpose_tile2d(out, in);
}
