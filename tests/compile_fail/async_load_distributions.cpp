// SPDX-License-Identifier: MIT
// A copy between windows of two distributions.
// EXPECT: async_load_tile: the windows must have the same element type and the same distribution
#include <tilewright/tile/async_load.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
using by_columns = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<2, 4>, sequence<32>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<1>, sequence<1>>::value>;
template <class T>
auto view(T* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(32, number<1>{}),
                                                                    number<4>{});
}
constexpr auto lengths = make_tuple(number<8>{}, number<32>{});
auto lds_view(tw::exec::lds_pointer p) {
  return tw::make_tensor_view<tw::address_space_enum::lds, float>(p, tw::make_naive_tensor_descriptor_packed(lengths));
}

void f(tw::exec::lds_pointer p, float* q) {
  tw::async_load_tile(tw::make_tile_window(lds_view(p), lengths, {0, 0}, distribution{}),
                      tw::make_tile_window(view(q), lengths, {0, 0}, by_columns{}));
}
