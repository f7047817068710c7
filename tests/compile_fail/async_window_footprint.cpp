// SPDX-License-Identifier: MIT
// A padded layout, which a wave cannot fill lane after lane.
// EXPECT: make_async_tile_window: with this layout a wave's instruction would write places that are not its own
#include <tilewright/tile/async_window.hpp>

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
constexpr auto lengths = make_tuple(number<8>{}, number<32>{});

void f(const float* q) {
  constexpr auto padded = tw::make_naive_tensor_descriptor(lengths, make_tuple(number<36>{}, number<1>{}));
  (void)tw::make_async_tile_window(view(q), lengths, {0, 0}, distribution{}, padded);
}
