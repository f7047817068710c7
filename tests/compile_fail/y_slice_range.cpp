// SPDX-License-Identifier: MIT
// Elements 2 to 5 of 4.
// EXPECT: get_y_sliced_thread_data: the slice reaches past what a thread holds
#include <tilewright/tile/static_distributed_tensor.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  (void)tile.get_y_sliced_thread_data(sequence<2>{}, sequence<4>{});
}
