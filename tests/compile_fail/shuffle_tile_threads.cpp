// SPDX-License-Identifier: MIT
// An exchange between threads without a place for it.
// EXPECT: shuffle_tile: threads would have to exchange elements; pass a place in LDS as the third argument
#include <tilewright/tile/shuffle_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
using by_columns = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<2, 4>, sequence<32>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<1>, sequence<1>>::value>;

void f(tw::static_distributed_tensor<float, by_columns>& out,
       const tw::static_distributed_tensor<float, distribution>& in) {
  tw::shuffle_tile(out, in);
}
