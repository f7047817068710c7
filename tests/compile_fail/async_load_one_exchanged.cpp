// SPDX-License-Identifier: MIT
// Lanes exchanged on one side of a copy only.
// EXPECT: async_load_tile: make both windows with make_async_tile_window
#include <tilewright/tile/async_window.hpp>

#include <tilewright/lds/lds_index_swapping.hpp>

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

constexpr auto layout = tw::make_lds_index_swapping_descriptor<32, 4, 1, 8, float>();
using one_wave = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
void f(tw::exec::lds_pointer p, const float* q) {
  const auto in_lds = tw::make_tensor_view<tw::address_space_enum::lds, float>(p, layout);
  tw::async_load_tile(tw::make_async_tile_window(in_lds, lengths, {0, 0}, one_wave{}, layout),
                      tw::make_tile_window(view(q), lengths, {0, 0}, one_wave{}));
}
