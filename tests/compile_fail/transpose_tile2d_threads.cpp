// SPDX-License-Identifier: MIT
// A transpose between threads in registers.
// EXPECT: transpose_tile2d: threads would have to exchange elements; use transpose_tile with a place in LDS
#include <tilewright/tile/shuffle_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

void f(tw::static_distributed_tensor<float, distribution>& out,
       const tw::static_distributed_tensor<float, distribution>& in) {
  tw::transpose_tile2d(out, in);
}
