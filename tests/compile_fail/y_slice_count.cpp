// SPDX-License-Identifier: MIT
// Two origins for one y.
// EXPECT: get_y_sliced_thread_data: one origin and one length are needed for each y of the distribution
#include <tilewright/tile/static_distributed_tensor.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

void f(tw::static_distributed_tensor<float, distribution>& tile) {
  tile.set_y_sliced_thread_data(sequence<0, 0>{}, sequence<1, 1>{}, tw::array<float, 1>{});
}
