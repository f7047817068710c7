// SPDX-License-Identifier: MIT
// A function of tiles of two distributions.
// EXPECT: tile_elementwise: the tiles have different distributions; shuffle_tile gives one tile the distribution of another
#include <tilewright/tile/elementwise.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
using by_columns = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<2, 4>, sequence<32>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<1>, sequence<1>>::value>;

void f(const tw::static_distributed_tensor<float, distribution>& a,
       const tw::static_distributed_tensor<float, by_columns>& b) {
  (void)tw::tile_elementwise_in([](float x, float y) { return x + y; }, a, b);
}
