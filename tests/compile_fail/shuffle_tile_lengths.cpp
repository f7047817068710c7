// SPDX-License-Identifier: MIT
// A tile shuffled into a tile of other lengths.
// EXPECT: shuffle_tile: the tiles have different lengths
#include <tilewright/tile/shuffle_tile.hpp>

#include "sample_tile.hpp"

using smaller = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 2>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
void f(tw::static_distributed_tensor<float, smaller>& out, const tw::static_distributed_tensor<float, distribution>& in,
       tw::exec::lds_pointer p) {
  tw::shuffle_tile(out, in, p);
}
