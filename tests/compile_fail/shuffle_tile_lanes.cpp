// SPDX-License-Identifier: MIT
// Lanes that are counted along the other dimension: the same registers of other threads.
// EXPECT: shuffle_tile: threads would have to exchange elements; pass a place in LDS as the third argument
#include <tilewright/tile/shuffle_tile.hpp>

namespace tw = tilewright;
using tw::sequence, tw::tuple;

template <class Major>
using by_lanes =
    tw::tile_distribution<tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<Major>,
                                                         tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
using down = by_lanes<sequence<2, 1>>;
using along = by_lanes<sequence<1, 2>>;

void f(tw::static_distributed_tensor<float, down>& out, const tw::static_distributed_tensor<float, along>& in) {
  tw::shuffle_tile(out, in);
}
