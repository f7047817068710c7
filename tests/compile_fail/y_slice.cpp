// SPDX-License-Identifier: MIT
// Elements 2 to 5 of 4, two origins or two lengths for one y; elements of 12 bytes in LDS.
// EXPECT: get_y_sliced_thread_data: the slice reaches past what a thread holds
// EXPECT: get_y_sliced_thread_data: one origin and one length are needed for each y of the distribution
// EXPECT: get_y_sliced_thread_data: one origin and one length are needed for each y of the distribution
// EXPECT: make_static_distributed_lds_tensor: elements have 1, 2, 4, 8 or 16 bytes
#include <tilewright/tile/static_distributed_lds_tensor.hpp>

#include "sample_tile.hpp"

struct three_floats {
  float x, y, z;
};

void f(tw::static_distributed_tensor<float, distribution>& tile, tw::exec::lds_pointer p) {
  (void)tile.get_y_sliced_thread_data(sequence<2>{}, sequence<4>{});
  tile.set_y_sliced_thread_data(sequence<0, 0>{}, sequence<1, 1>{}, tw::array<float, 1>{});
  (void)tile.get_y_sliced_thread_data(sequence<0>{}, sequence<1, 1>{});
  (void)tw::make_static_distributed_lds_tensor<three_floats>(p, distribution{});
}
