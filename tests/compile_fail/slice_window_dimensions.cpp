// SPDX-License-Identifier: MIT
// A part with one begin for two dimensions.
// EXPECT: get_slice_tile: begins and ends need one entry for each dimension of the window
#include <tilewright/tile/slice_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

template <class T>
auto view(T* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(32, number<1>{}),
                                                                    number<4>{});
}
constexpr auto lengths = make_tuple(number<8>{}, number<32>{});

void f(float* p) {
  (void)tw::get_slice_tile(tw::make_tile_window(view(p), lengths, {0, 0}), sequence<0>{}, sequence<8>{});
}
