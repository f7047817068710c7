// SPDX-License-Identifier: MIT
// A part that only some threads hold.
// EXPECT: slice_distribution_from_x: some threads would hold nothing; cut only factors that a thread holds (Y)
#include <tilewright/tile/slice_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

void f(const tw::static_distributed_tensor<float, distribution>& tile) {
  (void)tw::get_slice_tile(tile, sequence<0, 0>{}, sequence<4, 32>{});
}
