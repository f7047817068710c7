// SPDX-License-Identifier: MIT
// A gathering window of other lengths than its distribution.
// EXPECT: tile_window: the lengths are not those of the tile distribution
#include <tilewright/tile/tile_scatter_gather.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
template <class T>
auto view(T* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(32, number<1>{}),
                                                                    number<4>{});
}

void f(float* p) {
  (void)tw::make_tile_scatter_gather(view(p), make_tuple(number<4>{}, number<32>{}), {0, 0}, distribution{},
                                     tw::array<index_t, 1>{}, number<0>{});
}
